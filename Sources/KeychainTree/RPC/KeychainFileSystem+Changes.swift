import FileSystemCore
import Keychain
import Synchronization
import SystemPackage

/// What Keychain Services has changed is seen in the mount at once (contract, F10); docs/protocol.md states the rules.
extension KeychainFileSystem {
    /// Follows changes that have been committed, and has the kernel told before the answer.
    func show(_ changes: [ItemChange], _ request: inout Request) {
        guard !changes.isEmpty else { return }
        var seen = Seen()
        // Whoever makes a name looks for it in the store and tells of it under this lock: it is seen here, or it has seen
        // what was committed.
        names.withLock { _ in
            for change in changes { follow(change, &seen) }
        }
        request.notificationsBeforeReply.append(.allEntries(fallback: { [self] in names(of: changes) }))
        request.notificationsBeforeReply += seen.nodes.map { .inode($0, pages: true) }
        stalePages.drain(&request)
    }

    /// What changes have come by so far.
    private struct Seen {
        /// Whose attributes are not what they were.
        var nodes: Set<NodeID> = []
        /// Directories by a place in them, its account left out: many changes are of one.
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
            if let file = known?.file { file.state.withLock { changed(&$0) } }
            return
        }
        let directory = directory(of: new, &seen)
        // An item that nobody has used knows its directory, and that is another one now.
        if let known, let file = table.withLock({ $0.node(known.id)?.file }) {
            let primaryKey = directory ?? unknownDirectory(of: new)
            file.state.withLock { state in
                if let primaryKey { state.directory = primaryKey }
                changed(&state)
            }
        }
        taken(new, by: change.row, directory)
    }

    /// An item is gone: its file lives on through its descriptors, as that of an unlinked one does (F6).
    private func removed(_ row: RowID, _ known: KnownItem?) {
        guard let file = known?.file else { return table.withLock { $0.detachItem(row) } }
        file.state.withLock { state in
            // A value that no descriptor for writing has is not to be taken for none.
            let isKnown = state.openValue != nil || state.openCount > 0 && state.item?.secretCount == nil
            detach(&state, keeping: isKnown ? .kept(state.openValue) : .lost)
            stalePages.add(&state)
        }
    }

    /// An item has another value or other attributes: what is known of them is read again. What somebody has staged and not
    /// committed stays, and replaces the value when it is.
    func changed(_ state: inout ItemFile.State) {
        guard !state.isPending, !state.isDetached else { return }
        if state.stagedValue?.state.isUncommitted == false { state.stagedValue = nil }
        state.cuts += 1
        state.keptValue = nil
        state.item = nil
        if state.openCount > 0 || state.stagedValue != nil { _ = try? item(of: &state) }
        moveStaging(&state)
        keepOpenValue(&state)
        keepValue(&state)
        stalePages.add(&state)
    }

    // MARK: Names

    /// An item has a name now that somebody may be making a file under.
    private func taken(_ primaryKey: ItemPrimaryKey, by row: RowID, _ directory: ServiceDirectory?) {
        let name = CanonicalName(account: primaryKey.account)
        if let directory = directory?.row ?? unknownRow(of: primaryKey) { take(name, in: directory) }
        guard let file = directory?.pendingFile(name), let item = try? keychain.item(id: row) else { return }
        if let other = table.withLock({ $0.knownItem(row)?.file }), other !== file {
            withBoth(file, other) { state, otherState in
                guard state.isPending else { return }
                let isOpen = otherState.openCount > 0
                detach(&otherState, keeping: isOpen ? .kept(otherState.openValue) : .lost)
                adopt(item, &state)
            }
        } else {
            file.state.withLock { state in if state.isPending { adopt(item, &state) } }
        }
    }

    /// A file that somebody is making gets the item that has come to its name meanwhile, as if it had been renamed over it:
    /// the item follows the name, and the file's contents are its value from their commit on (F5).
    func adopt(_ item: Item, _ state: inout ItemFile.State) {
        guard let newItem = state.item, let file = table.withLock({ $0.item(state.row) }) else { return }
        state.directory.removePending(CanonicalName(account: newItem.account), state.row)
        let old = state.row
        table.withLock { $0.rebind(file, from: old, to: item.id) }
        (state.row, state.isPending, state.freed) = (item.id, false, nil)
        state.adopted = newItem
        state.item = shown(item, state)
        moveStaging(&state)
    }

    /// Whether the name that a file was to get in the store belongs to an item that has come meanwhile, and is this file's now.
    func adoptTaken(_ state: inout ItemFile.State) -> Bool {
        guard state.isPending, let newItem = state.item else { return false }
        let name = CanonicalName(account: newItem.account)
        guard let item = try? keychain.item(named: name, in: newItem.directory), item.id != state.row else {
            return false
        }
        adopt(item, &state)
        return true
    }

    /// An item of the store as its file shows it: with what is to go over to it from before it came.
    func shown(_ item: Item, _ state: borrowing ItemFile.State) -> Item {
        guard let newItem = state.adopted else { return item }
        let directory = try? keychain.directory(id: newItem.directory)
        return item.taking(newItem, sourceDefault: directory?.defaultProtection ?? .whenUnlocked)
    }

    // MARK: Places

    /// The directory of a place, if the kernel knows it: only there can names be in the making.
    private func shownDirectory(of primaryKey: ItemPrimaryKey) -> ServiceDirectory? {
        guard
            let directory = try? keychain.directory(
                named: CanonicalName(service: primaryKey.service), in: primaryKey.container)
        else { return nil }
        return table.withLock { $0.service(directory.id) }
    }

    /// The row of a directory that the kernel does not know, if names that were freed in it may be remembered.
    private func unknownRow(of primaryKey: ItemPrimaryKey) -> RowID? {
        guard freedNames.withLock({ $0.count }) > 0 else { return nil }
        let found = try? keychain.directory(named: CanonicalName(service: primaryKey.service), in: primaryKey.container)
        return found?.id
    }

    /// The directory of a place that the kernel does not know.
    private func unknownDirectory(of primaryKey: ItemPrimaryKey) -> ServiceDirectory? {
        guard
            let directory = try? keychain.directory(
                named: CanonicalName(service: primaryKey.service), in: primaryKey.container)
        else { return nil }
        let container = try? keychain.directory(id: directory.parent)
        return unknownDirectory(directory.id, primaryKey.container, container?.parent ?? .none)
    }

    /// For kernels that cannot be told to ask again for all names: those that have come or gone.
    private func names(of changes: [ItemChange]) -> [EntryReference] {
        var found: Set<EntryReference> = []
        for change in changes where change.old != change.new {
            for primaryKey in [change.old, change.new].compactMap(\.self) {
                if let name = name(of: primaryKey) { found.insert(name) }
            }
        }
        return Array(found)
    }

    /// The item's own name where the kernel knows the directory; else that of the first directory on the way that it does not
    /// know, and may take for absent.
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
    /// An item with what was set on a name before the item came to it, as if the file had been renamed over it (F5).
    func bringing(_ newItem: Item?, to item: Item) throws(KeychainFault) -> Item {
        guard let newItem else { return item }
        return item.taking(newItem, sourceDefault: try defaultProtection(newItem))
    }
}
