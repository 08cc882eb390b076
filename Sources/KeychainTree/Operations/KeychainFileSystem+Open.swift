package import FileSystemCore
import Keychain
import Logging
import SecretCrypto
import Synchronization
package import SystemPackage

extension KeychainFileSystem {
    // MARK: Making names

    /// How long the attributes of a file hold that is just being made, in seconds: open(2) itself looks at them once more
    /// (`may_open` of `fs/namei.c`), and so does who opens a file, often. Nothing of it is staged yet (F10). The kernel makes
    /// two ticks of its clock of it, which is 20 ms at most.
    static let creationValidity = 1e-6

    package func create(
        _ request: inout Request, parent: NodeID, name: EntryName, permissions: UInt32, flags: OpenFlags
    ) throws(Errno) -> (Entry, OpenFileInfo) {
        let directory = try serviceDirectory(parent)
        do {
            let made = try makePending(request, name, in: directory, permissions: permissions)
            // The file exists: a lock that comes now must not cause an error, with a descriptor that is never closed.
            var (entry, availability) = made.file.state.withLock { state in
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

    /// Somebody else (the API) has made the name since the kernel asked for it.
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

    /// `tar --xattrs` makes files so: a create and a commit of an empty item (T5).
    package func mknod(
        _ request: inout Request, parent: NodeID, name: EntryName, type: FileType, permissions: UInt32
    ) throws(Errno) -> Entry {
        guard type == .regular else { throw .notPermitted }
        awaitIndexes(request)
        let directory = try serviceDirectory(parent)
        let made = try makePending(request, name, in: directory, permissions: permissions)
        do {
            return try made.file.state.withLock { (state) throws(Errno) in
                state.writerCount = 0
                state.openCount = 0
                try commit(&state, adopting: false)
                state.stagedValue = nil
                // It is committed: a lock that comes now must not make an error of it.
                return entry(of: made.file, state, item: state.item ?? made.pendingItem)
            }
        } catch {
            returnFreedName(made.file.state.withLock { $0.freed })
            directory.removePending(CanonicalName(typed: name.bytes), made.pendingItem.id)
            forget(made.file.node, count: 1)
            throw error
        }
    }

    /// The directory in which items can be made; EPERM elsewhere (T5).
    func serviceDirectory(_ parent: NodeID) throws(Errno) -> ServiceDirectory {
        guard case .service(let directory) = try node(parent).content else { throw .notPermitted }
        return directory
    }

    /// A name that exists for everyone from now on, with nothing of it in the store (F2).
    ///
    /// Opened for writing once, and looked up once.
    private func makePending(
        _ request: borrowing Request, _ name: EntryName, in directory: ServiceDirectory, permissions: UInt32
    ) throws(Errno) -> (file: ItemFile, pendingItem: Item) {
        try checkWritable()
        let name = CanonicalName(typed: name.bytes)
        let account = try uncutKey(account(name))
        let record = try record(of: directory)
        try mapped { () throws(KeychainFault) in try keychain.checkCanAdd(record.defaultProtection) }
        let pendingItem = newItem(account, in: record, permissions: permissions & 0o700, caller: request.caller)
        try checkFreeSpace(for: 0)
        func make() throws(Errno) -> (file: ItemFile, pendingItem: Item) {
            let existing = try mapped { () throws(KeychainFault) in
                try keychain.item(named: name, in: directory.row)
            }
            guard existing == nil else { throw .fileExists }
            let freed = reclaimFreedName(name, in: directory.row, by: host.process(ofThread: request.caller.processID))
            do throws(Errno) {
                return (try addPending(pendingItem, named: name, in: directory, goingOnWith: freed), pendingItem)
            } catch {
                returnFreedName(freed)
                throw error
            }
        }
        return try lookingUp(request) { () throws(Errno) in
            if let made = try names.withLockIfAvailable({ (_) throws(Errno) in try make() }) { return made }
            // Another thread holds the lock during a commit.
            request.willBlock()
            return try names.withLock { (_) throws(Errno) in try make() }
        }
    }

    private func addPending(
        _ pendingItem: Item, named name: CanonicalName, in directory: ServiceDirectory, goingOnWith freed: FreedName?
    ) throws(Errno) -> ItemFile {
        let node = table.withLock { $0.makeID() }
        let file = ItemFile(node: node, row: pendingItem.id, directory: directory, item: pendingItem, isPending: true)
        try file.state.withLock { (state) throws(Errno) in
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
        // A lock that came since this was asked before did not see the file, and has taken nothing away from it.
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
    ) -> Item {
        let row = keychain.reserveRowID()
        let now = keychain.now()
        // A set-group-ID directory gives its group to what is made in it.
        let group = directory.file.permissions & 0o2000 != 0 ? directory.file.groupID : caller.groupID
        let file = PosixAttributes(
            inode: UInt64(row.rawValue), permissions: permissions, userID: caller.userID, groupID: group,
            modificationTime: now, accessTime: now)
        return Item(
            id: row, directory: directory.id, protection: directory.defaultProtection, account: account,
            creationDate: now, persistentReference: SecureRandom.bytes(16), file: file)
    }

    // MARK: Opening

    /// In bytes.
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

    /// ESTALE where its name stands for it no more and it cannot be opened: the kernel looks its path up again, once.
    private func open(_ file: ItemFile, _ flags: OpenFlags, _ caller: Caller) throws(Errno) -> OpenFileInfo {
        let changes = flags.isWritable || flags.contains(.truncate)
        do {
            return changes ? try openForWriting(file, flags, caller) : try openForReading(file, caller)
        } catch .noSuchFileOrDirectory {
            throw .staleNFSFileHandle
        }
    }

    private func openForReading(_ file: ItemFile, _ caller: Caller) throws(Errno) -> OpenFileInfo {
        let handle = try file.state.withLock { (state) throws(Errno) in
            noteUser(caller.userID, &state)
            let handle: Handle
            // Before anything is looked at: a lock that comes meanwhile closes this one too.
            let past = FilePast(truncations: state.cuts, lockClosures: file.closings.load(ordering: .acquiring))
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
        let writer = try file.state.withLock { (state) throws(Errno) in
            let item = try item(of: &state)
            noteUser(caller.userID, &state)
            // Whoever has looked the name up before it was taken away writes to what has none, as on any file system.
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
                file: file, flags: flags, user: caller.userID, discards: state.losses,
                availability: ProtectionClass.Availability.strictest(of: state.protections(item)))
        }
        return OpenFileInfo(handle: table.withLock { $0.open(.writer(writer)) })
    }

    /// The committed value, for descriptors for writing with nothing staged, where it has room.
    func keepOpenValue(_ state: inout ItemFile.State) {
        guard state.writerCount > 0 else { return }
        try? takeOpenValue(&state, for: state.user)
    }

    /// The same for one that is being opened: ENOMEM where it has no room. One that cannot be read can be replaced.
    private func takeOpenValue(_ state: inout ItemFile.State, for user: UInt32) throws(Errno) {
        guard state.stagedValue == nil, !state.isDetached else { return }
        let secret: SealedSecret?
        do { secret = try committedSecret(&state) } catch { return }
        state.openValue = nil
        try charge(secret, to: user)
        state.openValue = secret
    }

    /// The committed value, in the store or kept by a file that has no name any more.
    func openSecret(_ state: inout ItemFile.State) throws(Errno) -> SealedSecret? {
        switch state.detachedValue {
        case nil: return try committedSecret(&state)
        case .kept(let secret): return secret
        case .lost: throw .staleNFSFileHandle
        }
    }

    /// O_TRUNC: the staged value is empty from now on; the committed one stays until the commit (F2).
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
        state.cuts += 1
    }

    /// The secret in the store, still sealed; and the item that goes with it.
    func committedSecret(_ state: inout ItemFile.State) throws(Errno) -> SealedSecret? {
        if let item = state.item, isUsedWhileLocked(state, item) {
            if case .sealed(let secret) = state.keptValue { return secret }
            guard item.secretCount == nil else { throw .noKey }
            return nil
        }
        let row = state.row
        let found = try mapped { () throws(KeychainFault) in try keychain.itemWithSecret(id: row) }
        guard let found else { throw .noSuchFileOrDirectory }
        state.item = shown(found.item, state)
        let secret = found.secret.map { shared($0, &state) }
        let isKept = found.item.protection == .whenUnlockedUnlessOpen
        state.keptValue = nil
        if isKept, let secret, (try? charge(secret, to: state.user)) != nil { state.keptValue = .sealed(secret) }
        return secret
    }

    /// The value that descriptors have already, if it is this one. Short ones are not worth the search.
    private func shared(_ secret: SealedSecret, _ state: inout ItemFile.State) -> SealedSecret {
        guard secret.count > Self.shortSecret else { return secret }
        if let opened = state.openedSecret, opened.isInterchangeable(with: secret) { return opened }
        state.openedSecret = secret
        return secret
    }

    /// An empty staged value for an item, under the key that goes first of those that its classes need.
    func newStagedValue(for item: Item, _ state: borrowing ItemFile.State) throws(Errno) -> StagedValue {
        let availability = ProtectionClass.Availability.strictest(of: state.protections(item))
        return try mapped { () throws(KeychainFault) in
            StagedValue(
                key: try stagingKeys.key(for: availability), availability: availability, limit: options.valueLimit,
                now: keychain.now())
        }
    }

    // MARK: Closing

    package func release(_ request: inout Request, node: NodeID, handle id: HandleID) {
        guard let handle = table.withLock({ $0.close(id) }) else { return }
        defer { stalePages.drain(&request) }
        let weight = handle.weight
        defer { if released.add(weight) { host.trimMemory() } }
        switch handle {
        case .control, .exchange, .directory: break
        case .reader(let file, _, _), .snapshotReader(let file, _, _):
            file.state.withLock { state in
                state.closed(writer: false)
                stalePages.add(&state)
                state.forgetUnused()
            }
        case .writer(let writer):
            let dropped = writer.file.state.withLock { state in
                // While it is open: so it can be committed where what is open goes on over a lock (L2).
                if state.writerCount == 1 { commitLast(&state) }
                state.closed(writer: true)
                stalePages.add(&state)
                defer { state.forgetUnused() }
                return state.writerCount == 0 ? lastClose(&state) : nil
            }
            if let dropped { request.notificationsBeforeReply.append(.allEntries(fallback: { [dropped] })) }
        }
    }

    /// The last writer goes: commits what is staged, unless it was abandoned (F1).
    private func commitLast(_ state: inout ItemFile.State) {
        guard let stagedValue = state.stagedValue, stagedValue.state.lastClose() == .commit else { return }
        do {
            try commit(&state)
        } catch {
            log.error("the last close of an item could not commit it", metadata: ["errno": "\(error.rawValue)"])
        }
    }

    /// The last writer is gone, and what is not committed with it.
    ///
    /// Returns the name that is gone with a dropped creation.
    private func lastClose(_ state: inout ItemFile.State) -> EntryReference? {
        guard let stagedValue = state.stagedValue else { return nil }
        if state.adopted != nil, !state.isDetached { state.item = nil }
        state.adopted = nil
        // What has no name lives on for those who read it; not what was abandoned.
        let isDropped = stagedValue.state.lastClose() == .drop
        if !state.isDetached || state.openCount == 0 || isDropped { state.stagedValue = nil }
        guard state.isPending, let item = state.item else { return nil }
        returnFreedName(state.freed)
        return dropPending(&state, item)
    }

    /// A creation that was never committed is gone, as if it had not been.
    private func dropPending(_ state: inout ItemFile.State, _ item: Item) -> EntryReference? {
        let name = CanonicalName(account: item.account)
        state.directory.removePending(name, state.row)
        (state.isPending, state.isNeverCommitted) = (false, true)
        state.detachedValue = .lost
        state.freed = nil
        let row = state.row
        table.withLock { $0.detachItem(row) }
        return EntryName(name.bytes).map { EntryReference(parent: state.directory.node, name: $0) }
    }
}

extension ItemFile.State {
    mutating func closed(writer: Bool) {
        openCount -= 1
        if writer { writerCount -= 1 }
        if writerCount == 0 { openValue = nil }
    }

    /// What can be read again is not kept for a file that nobody has open: the kernel may know very many.
    mutating func forgetUnused() {
        if isDetached, openCount == 0 { stagedValue = nil }
        guard openCount == 0, stagedValue == nil else { return }
        keptValue = nil
        if !isPending, !isDetached { (item, attributeCharge) = (nil, nil) }
    }
}

extension ProtectionClass.Availability {
    /// What has to hold for all of the classes to be usable.
    static func strictest(of protections: [ProtectionClass]) -> Self {
        let all = protections.map(\.stagingAvailability)
        if all.contains(.unlocked) { return .unlocked }
        return all.contains(.firstUnlock) ? .firstUnlock : .always
    }
}
