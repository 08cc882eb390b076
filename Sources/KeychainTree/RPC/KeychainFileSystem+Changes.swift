import FileSystemCore
import Keychain
import Synchronization
import SystemPackage

/// Makes changes of Keychain Services visible in the mount immediately (contract, F10). docs/protocol.md states the
/// rules.
extension KeychainFileSystem {
    /// Follows committed changes, and notifies the kernel before the reply.
    func show(_ changes: [ItemChange], _ request: inout Request) {
        guard !changes.isEmpty else { return }
        var seen = Seen()
        // Creating a name searches the store and notifies under this lock, so the name is either seen here, or its
        // creator has seen the commit.
        names.withLock { _ in
            for change in changes { follow(change, &seen) }
        }
        request.notificationsBeforeReply.append(.allEntries(fallback: { [self] in names(of: changes) }))
        request.notificationsBeforeReply += seen.nodes.map { .inode($0, pages: true) }
        stalePages.drain(&request)
    }

    /// The changes that have been applied.
    private struct Seen {
        /// The nodes whose attributes have changed.
        var nodes: Set<NodeID> = []
        /// The directories by primary keys without account, because many changes concern one directory.
        var directories: [ItemPrimaryKey: ServiceDirectory?] = [:]
    }

    private func directory(of primaryKey: ItemPrimaryKey, _ seen: inout Seen) -> ServiceDirectory? {
        var key = primaryKey
        key.account = .text([])
        if let directory = seen.directories[key] { return directory }
        let directory = shownDirectory(of: primaryKey)
        seen.directories[key] = .some(directory)
        if let directory { seen.nodes.insert(directory.node) }
        return directory
    }

    private func follow(_ change: ItemChange, _ seen: inout Seen) {
        let known = table.withLock { $0.knownItem(change.row) }
        if let known { seen.nodes.insert(known.id) }
        let moves = change.old != change.new
        if moves, let old = change.old { _ = directory(of: old, &seen) }
        guard let new = change.new else { return removed(change.row, known) }
        guard moves else {
            if let file = known?.file { withState(of: file) { changed(&$0) } }
            return
        }
        let directory = directory(of: new, &seen)
        // An item that is not in use has its directory in the table, which is updated.
        if let known, let file = table.withLock({ $0.node(known.id)?.file }) {
            let primaryKey = directory ?? unknownDirectory(of: new)
            withState(of: file) { state in
                if let primaryKey { state.directory = primaryKey }
                changed(&state)
            }
        }
        taken(new, by: change.row, directory)
    }

    /// Detaches the file of a deleted item: only its descriptors refer to it, as for an unlinked file (F6).
    private func removed(_ row: RowID, _ known: KnownItem?) {
        guard let file = known?.file else { return table.withLock { $0.detachItem(row) } }
        withState(of: file) { state in
            // An unknown value of a file without a descriptor for writing must not count as none.
            let isKnown = state.openValue != nil || state.openCount > 0 && state.item?.secretCount == nil
            detach(&state, keeping: isKnown ? .kept(state.openValue) : .lost)
            stalePages.add(&state)
        }
    }

    /// Marks the item for reading again after a change of its value or attributes. A staged, uncommitted value stays,
    /// and replaces the new value when it is committed.
    func changed(_ state: inout ItemFile.State) {
        guard !state.isPending, !state.isDetached else { return }
        if state.stagedValue?.state.isUncommitted == false { state.stagedValue = nil }
        state.truncations += 1
        state.keptValue = nil
        state.forgetItem()
        if state.openCount > 0 || state.stagedValue != nil { _ = try? item(of: &state) }
        moveStaging(&state)
        keepOpenValue(&state)
        keepValue(&state)
        stalePages.add(&state)
    }

    // MARK: Names

    /// Handles a pending file with the name that an item has got.
    private func taken(_ primaryKey: ItemPrimaryKey, by row: RowID, _ directory: ServiceDirectory?) {
        let name = CanonicalName(account: primaryKey.account)
        if let directory = directory?.row ?? unknownRow(of: primaryKey) { take(name, in: directory) }
        guard let file = directory?.pendingFile(name), let item = try? keychain.item(id: row) else { return }
        if let other = table.withLock({ $0.knownItem(row)?.file }), other !== file {
            withStates(of: file, other) { state, otherState in
                guard state.isPending else { return }
                let isOpen = otherState.openCount > 0
                detach(&otherState, keeping: isOpen ? .kept(otherState.openValue) : .lost)
                adopt(item, &state)
            }
        } else {
            withState(of: file) { state in if state.isPending { adopt(item, &state) } }
        }
    }

    /// Gives a pending file the item that has got its name, as if the file had been renamed over it: the item follows
    /// the name, and the file's contents become its value at their commit (F5).
    func adopt(_ item: Item, _ state: inout ItemFile.State) {
        guard let newItem = state.item, let file = table.withLock({ $0.item(state.row) }) else { return }
        state.directory.removePending(CanonicalName(account: newItem.account), state.row)
        let old = state.row
        table.withLock { $0.rebind(file, from: old, to: item.id) }
        (state.row, state.isPending, state.freed) = (item.id, false, nil)
        state.adopted = newItem
        show(item, &state)
        moveStaging(&state)
    }

    /// Returns whether the name of a pending file belongs to an item that was added in the meantime, and gives it that
    /// item.
    func adoptTaken(_ state: inout ItemFile.State) -> Bool {
        guard state.isPending, let newItem = state.item else { return false }
        let name = CanonicalName(account: newItem.account)
        guard let item = try? keychain.item(named: name, in: newItem.directory), item.id != state.row else {
            return false
        }
        adopt(item, &state)
        return true
    }

    /// Sets a file's item to that of the store, with the attributes to be transferred to it. Returns it.
    @discardableResult
    func show(_ stored: Item, _ state: inout ItemFile.State) -> Item {
        guard let newItem = state.adopted else {
            state.setItem(stored, stored: stored.protection)
            return stored
        }
        let directory = try? keychain.directory(id: newItem.directory)
        let item = stored.taking(newItem, sourceDefault: directory?.defaultProtection ?? .whenUnlocked)
        state.setItem(item, stored: stored.protection)
        return item
    }

    // MARK: Places

    /// Returns the directory of a primary key if the kernel knows it: only there can names be pending.
    private func shownDirectory(of primaryKey: ItemPrimaryKey) -> ServiceDirectory? {
        guard
            let directory = try? keychain.directory(
                named: CanonicalName(service: primaryKey.service), in: primaryKey.container)
        else { return nil }
        return table.withLock { $0.service(directory.id) }
    }

    /// Returns the row of a directory that the kernel does not know, if names freed in it may be recorded.
    private func unknownRow(of primaryKey: ItemPrimaryKey) -> RowID? {
        guard freedNames.withLock({ $0.count }) > 0 else { return nil }
        let found = try? keychain.directory(named: CanonicalName(service: primaryKey.service), in: primaryKey.container)
        return found?.id
    }

    /// Returns the directory of a primary key that the kernel does not know.
    private func unknownDirectory(of primaryKey: ItemPrimaryKey) -> ServiceDirectory? {
        guard
            let directory = try? keychain.directory(
                named: CanonicalName(service: primaryKey.service), in: primaryKey.container)
        else { return nil }
        let container = try? keychain.directory(id: directory.parent)
        return unknownDirectory(directory.id, primaryKey.container, container?.parent ?? .none)
    }

    /// Returns the added and removed names, for kernels without a notification that invalidates all names.
    private func names(of changes: [ItemChange]) -> [EntryReference] {
        var found: Set<EntryReference> = []
        for change in changes where change.old != change.new {
            for primaryKey in [change.old, change.new].compactMap(\.self) {
                if let name = name(of: primaryKey) { found.insert(name) }
            }
        }
        return Array(found)
    }

    /// Returns the item's own name if the kernel knows the directory; otherwise that of the first unknown directory on
    /// the path, which the kernel may have cached as absent.
    func name(of primaryKey: ItemPrimaryKey) -> EntryReference? {
        let name: [UInt8]
        let parent: NodeID
        let (classDirectory, groups) = table.withLock { ($0.classDirectory(primaryKey.container), $0.groups()) }
        if let directory = shownDirectory(of: primaryKey) {
            (parent, name) = (directory.node, CanonicalName(account: primaryKey.account).bytes)
        } else if let classDirectory {
            (parent, name) = (classDirectory, CanonicalName(service: primaryKey.service).bytes)
        } else if let groups {
            (parent, name) = (groups, CanonicalName(accessGroup: primaryKey.container.accessGroup).bytes)
        } else {
            return nil
        }
        return EntryName(name).map { EntryReference(parent: parent, name: $0) }
    }
}

extension Transaction {
    /// Returns an item with the attributes that were set on a pending name before the item got it, as if the file had
    /// been renamed over it (F5).
    func bringing(_ newItem: Item?, to item: Item) throws(KeychainFault) -> Item {
        guard let newItem else { return item }
        return item.taking(newItem, sourceDefault: try defaultProtection(newItem))
    }
}
