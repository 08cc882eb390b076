package import FileSystemCore
import Keychain
import SecretCrypto
import Synchronization
package import SystemPackage

extension KeychainFileSystem {
    // MARK: Making names

    /// The timeout of the attributes of a file that is just being created, in seconds. open(2) itself uses them again
    /// (`may_open` of `fs/namei.c`), and often the program. The kernel rounds it up to two ticks, at most 20 ms (F10).
    static let creationValidity = 1e-6

    package func create(
        _ request: inout Request, parent: NodeID, name: EntryName, permissions: UInt32, flags: OpenFlags
    ) throws(Errno) -> (Entry, OpenFileInfo) {
        let directory = try serviceDirectory(parent)
        do {
            let made = try makePending(request, name, in: directory, permissions: permissions)
            // The file exists: a lock in the meantime must not cause an error, with a descriptor that is never closed.
            var (entry, availability) = withState(of: made.file) { state in
                state.user = request.caller.userID
                return (
                    self.entry(of: made.file, state, item: made.pendingItem),
                    ProtectionClass.Availability.strictest(of: state.protections(made.pendingItem))
                )
            }
            let writer = FileWriter(
                file: made.file, flags: flags, user: request.caller.userID, discards: 0, availability: availability)
            let opened = OpenFileInfo(handle: table.withLock { $0.open(.writer(writer)) })
            entry.attributeTimeout = Self.creationValidity
            return (entry, opened)
        } catch .fileExists where !flags.contains(.exclusive) {
            return try openExisting(&request, parent, name, flags)
        }
    }

    /// Opens a name that the API has created since the kernel looked it up.
    private func openExisting(
        _ request: inout Request, _ parent: NodeID, _ name: EntryName, _ flags: OpenFlags
    ) throws(Errno) -> (Entry, OpenFileInfo) {
        guard case .found(let entry) = try lookup(&request, parent: parent, name: name) else { throw .fileExists }
        do {
            return (entry, try open(&request, node: entry.node, flags: flags))
        } catch {
            forget(entry.node, count: 1)
            throw error
        }
    }

    /// Creates a file. `tar --xattrs` does that: a creation and a commit of an empty item (T5).
    package func mknod(
        _ request: inout Request, parent: NodeID, name: EntryName, type: FileType, permissions: UInt32
    ) throws(Errno) -> Entry {
        guard type == .regular else { throw .notPermitted }
        awaitIndexes(request)
        let directory = try serviceDirectory(parent)
        let made = try makePending(request, name, in: directory, permissions: permissions)
        do {
            return try withState(of: made.file) { (state) throws(Errno) in
                state.writerCount = 0
                state.openCount = 0
                try commit(&state, adopting: false)
                state.stagedValue = nil
                // It is committed: a lock in the meantime must not cause an error.
                return entry(of: made.file, state, item: state.item ?? made.pendingItem)
            }
        } catch {
            returnFreedName(withState(of: made.file) { $0.freed })
            directory.removePending(CanonicalName(typed: name.bytes), made.pendingItem.id)
            forget(made.file.node, count: 1)
            throw error
        }
    }

    /// Returns the directory of a node in which items can be created.
    ///
    /// - Throws: EPERM elsewhere (T5).
    func serviceDirectory(_ parent: NodeID) throws(Errno) -> ServiceDirectory {
        guard case .service(let directory) = try node(parent).content else { throw .notPermitted }
        return directory
    }

    /// Creates a pending name, which exists for all processes but not in the store (F2).
    ///
    /// The file is opened for writing once, and looked up once.
    private func makePending(
        _ request: borrowing Request, _ name: EntryName, in directory: ServiceDirectory, permissions: UInt32
    ) throws(Errno) -> (file: ItemFile, pendingItem: Item) {
        try checkWritable()
        let name = CanonicalName(typed: name.bytes)
        let account = try uncutKey(account(name))
        let record = try record(of: directory)
        try mapped { () throws(KeychainFault) in try keychain.checkCanAdd(record.defaultProtection) }
        let pendingItem = try mapped { () throws(KeychainFault) in
            try newItem(account, in: record, permissions: permissions & 0o700, caller: request.caller)
        }
        try checkFreeSpace(for: 0)
        func make() throws(Errno) -> (file: ItemFile, pendingItem: Item) {
            let existing = try mapped { () throws(KeychainFault) in
                try keychain.item(named: name, in: directory.row)
            }
            guard existing == nil else { throw .fileExists }
            let freed = reclaimFreedName(name, in: directory.row, by: host.process(ofThread: request.caller.processID))
            do throws(Errno) {
                return (try addPending(pendingItem, named: name, in: directory, continuing: freed), pendingItem)
            } catch {
                returnFreedName(freed)
                throw error
            }
        }
        return try lookingUp(request) { () throws(Errno) in
            try names.withLock { (_) throws(Errno) in try make() }
        }
    }

    private func addPending(
        _ pendingItem: Item, named name: CanonicalName, in directory: ServiceDirectory, continuing freed: FreedName?
    ) throws(Errno) -> ItemFile {
        let node = table.withLock { $0.makeID() }
        let file = ItemFile(node: node, row: pendingItem.id, directory: directory, item: pendingItem, isPending: true)
        try withState(of: file) { (state) throws(Errno) in
            state.freed = freed
            let stagedValue = try newStagedValue(for: pendingItem, state)
            stagedValue.note { $0.opened() }
            state.stagedValue = stagedValue
            state.writerCount = 1
            state.openCount = 1
        }
        table.withLock { $0.add(file, as: pendingItem.id) }
        guard directory.addPending(file, name, pendingItem.id) else {
            forget(node, count: 1)
            throw .fileExists
        }
        // A lock since the first check did not see the file, and has not affected it.
        do {
            try mapped { () throws(KeychainFault) in try keychain.checkCanAdd(pendingItem.protection) }
        } catch {
            directory.removePending(name, pendingItem.id)
            forget(node, count: 1)
            throw error
        }
        return file
    }

    private func newItem(
        _ account: AttributeValue, in directory: Directory, permissions: UInt32, caller: Caller
    ) throws(KeychainFault) -> Item {
        let row = try keychain.reserveRowID()
        let now = keychain.now()
        // A set-group-ID directory passes its group on to entries created in it.
        let group = directory.file.permissions & 0o2000 != 0 ? directory.file.groupID : caller.groupID
        let file = PosixAttributes(
            inode: UInt64(row.rawValue), permissions: permissions, userID: caller.userID, groupID: group,
            modificationTime: now, accessTime: now)
        return Item(
            id: row, directory: directory.id, protection: directory.defaultProtection, account: account,
            creationDate: now, persistentReference: SecureRandom.bytes(16), file: file)
    }

    // MARK: Opening

    /// The maximum size of a short secret in bytes.
    private static let shortSecret = 1024

    package func open(_ request: inout Request, node id: NodeID, flags: OpenFlags) throws(Errno) -> OpenFileInfo {
        switch try node(id).content {
        case .folder, .service, .controlDirectory: throw .isDirectory
        case .controlFile(let file):
            try checkOwner(request.caller)
            return file == .rpc ? try openExchange(flags, request.caller) : open(file, request)
        case .item(let file): return try open(file, flags, request.caller)
        }
    }

    /// Opens a file.
    ///
    /// - Throws: ESTALE if the name no longer refers to it and it cannot be opened: the kernel then looks the path up
    ///   again, once.
    private func open(_ file: ItemFile, _ flags: OpenFlags, _ caller: Caller) throws(Errno) -> OpenFileInfo {
        let changes = flags.isWritable || flags.contains(.truncate)
        do {
            return changes ? try openForWriting(file, flags, caller) : try openForReading(file, caller)
        } catch .noSuchFileOrDirectory {
            throw .staleNFSFileHandle
        }
    }

    private func openForReading(_ file: ItemFile, _ caller: Caller) throws(Errno) -> OpenFileInfo {
        let handle = try withState(of: file) { (state) throws(Errno) in
            noteUser(caller.userID, &state)
            let handle: Handle
            // Read first: a lock in the meantime closes this descriptor, too.
            let past = FilePast(
                truncations: state.truncations, lockClosures: file.lockClosures.load(ordering: .acquiring))
            if state.readsStaged, let stagedValue = state.stagedValue {
                _ = try item(of: &state)
                handle = .snapshotReader(file, stagedValue.snapshot(), past)
            } else {
                if state.isDetached { _ = try item(of: &state) }
                let secret = try openSecret(&state)
                try charge(secret, to: caller.userID)
                handle = .reader(file, secret, past)
            }
            state.openCount += 1
            return handle
        }
        var opened = OpenFileInfo(handle: table.withLock { $0.open(handle) })
        opened.noFlush = true
        return opened
    }

    private func openForWriting(
        _ file: ItemFile, _ flags: OpenFlags, _ caller: Caller
    ) throws(Errno) -> OpenFileInfo {
        try checkWritable()
        let writer = try withState(of: file) { (state) throws(Errno) in
            let item = try item(of: &state)
            noteUser(caller.userID, &state)
            // A process that looked the name up before it was removed writes to a file without a name, as on any file
            // system.
            if state.stagedValue == nil, case .lost? = state.detachedValue { throw .staleNFSFileHandle }
            if flags.contains(.truncate) {
                try dropPrivileges(&state, writtenBy: caller)
                try truncateByOpen(&state, item)
            }
            try takeOpenValue(&state, for: caller.userID)
            state.writerCount += 1
            state.openCount += 1
            keepValue(&state)
            return FileWriter(
                file: file, flags: flags, user: caller.userID, discards: state.discards,
                availability: ProtectionClass.Availability.strictest(of: state.protections(item)))
        }
        return OpenFileInfo(handle: table.withLock { $0.open(.writer(writer)) })
    }

    /// Retains the committed value for descriptors for writing without a staged value, if the budget permits.
    func keepOpenValue(_ state: inout ItemFile.State) {
        guard state.writerCount > 0 else { return }
        try? takeOpenValue(&state, for: state.user)
    }

    /// Retains the committed value for a descriptor that is being opened. A value that cannot be read can be replaced.
    ///
    /// - Throws: ENOMEM if the budget is exhausted.
    private func takeOpenValue(_ state: inout ItemFile.State, for user: UInt32) throws(Errno) {
        guard state.stagedValue == nil, !state.isDetached else { return }
        let secret: SealedSecret?
        do { secret = try committedSecret(&state) } catch { return }
        state.openValue = nil
        try charge(secret, to: user)
        state.openValue = secret
    }

    /// Returns the committed value, from the store or from a file without a name.
    func openSecret(_ state: inout ItemFile.State) throws(Errno) -> SealedSecret? {
        switch state.detachedValue {
        case nil: return try committedSecret(&state)
        case .kept(let secret): return secret
        case .lost: throw .staleNFSFileHandle
        }
    }

    /// O_TRUNC: empties the staged value; the committed one stays until the commit (F2).
    private func truncateByOpen(_ state: inout ItemFile.State, _ item: Item) throws(Errno) {
        try checkFreeSpace(for: 0)
        let stagedValue: StagedValue
        if let shared = state.stagedValue {
            stagedValue = shared
        } else {
            stagedValue = try self.newStagedValue(for: item, state)
        }
        try mapped { () throws(KeychainFault) in try stagedValue.truncate(to: 0) }
        stagedValue.touch(keychain.now())
        stagedValue.note { $0.opened() }
        state.stagedValue = stagedValue
        state.truncations += 1
    }

    /// Returns the sealed secret in the store, and updates the item.
    func committedSecret(_ state: inout ItemFile.State) throws(Errno) -> SealedSecret? {
        if let item = state.item, isUsedWhileLocked(state, item) {
            if case .sealed(let secret) = state.keptValue { return secret }
            guard item.secretCount == nil else { throw .noKey }
            return nil
        }
        let row = state.row
        let found = try mapped { () throws(KeychainFault) in try keychain.itemWithSecret(id: row) }
        guard let found else { throw .noSuchFileOrDirectory }
        show(found.item, &state)
        let secret = found.secret.map { shared($0, &state) }
        let isKept = found.item.protection == .whenUnlockedUnlessOpen
        state.keptValue = nil
        if isKept, let secret, (try? charge(secret, to: state.user)) != nil { state.keptValue = .sealed(secret) }
        return secret
    }

    /// Returns the value that descriptors share if it is equal. Not for short values, for which a search costs
    /// more.
    private func shared(_ secret: SealedSecret, _ state: inout ItemFile.State) -> SealedSecret {
        guard secret.count > Self.shortSecret else { return secret }
        if let opened = state.openedSecret, opened.isInterchangeable(with: secret) { return opened }
        state.openedSecret = secret
        return secret
    }

    /// Returns an empty staged value for an item, under the key of the strictest of its classes.
    func newStagedValue(for item: Item, _ state: borrowing ItemFile.State) throws(Errno) -> StagedValue {
        let availability = ProtectionClass.Availability.strictest(of: state.protections(item))
        return try mapped { () throws(KeychainFault) in
            StagedValue(
                key: try stagingKeys.key(for: availability), availability: availability, limit: options.valueLimit,
                now: keychain.now())
        }
    }
}

extension ProtectionClass.Availability {
    /// Returns the condition under which all of the classes are usable.
    static func strictest(of protections: [ProtectionClass]) -> Self {
        let all = protections.map(\.stagingAvailability)
        if all.contains(.unlocked) { return .unlocked }
        return all.contains(.firstUnlock) ? .firstUnlock : .always
    }
}
