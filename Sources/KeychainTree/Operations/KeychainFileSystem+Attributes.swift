package import FileSystemCore
import Keychain
import SecretCrypto
import Synchronization
package import SystemPackage

extension KeychainFileSystem {
    package func getattr(
        _ request: inout Request, node id: NodeID, handle: HandleID?
    ) throws(Errno) -> TimedAttributes {
        let node = try node(id)
        switch node.content {
        case .controlDirectory, .controlFile:
            return TimedAttributes(attributes(ofFixed: node), timeout: options.cacheTimeout)
        case .folder(let folder):
            return TimedAttributes(try currentAttributes(of: folder), timeout: options.cacheTimeout)
        case .service(let directory):
            if let last = directory.removedAttributes.attributes { return TimedAttributes(last, timeout: 0) }
            return TimedAttributes(attributes(of: try record(of: directory)), timeout: timeout(of: directory))
        case .item(let file):
            return try withState(of: file) { (state) throws(Errno) in
                defer { state.forgetLongAttributes() }
                return timedAttributes(state, item: try item(of: &state))
            }
        }
    }

    package func setattr(
        _ request: inout Request, node id: NodeID, changes: AttributeChanges
    ) throws(Errno) -> TimedAttributes {
        defer { stalePages.drain(&request) }
        let node = try node(id)
        switch node.content {
        case .controlFile:
            // A shell's `> control` truncates a file without contents.
            guard changes.onlyTruncates else { throw .notPermitted }
            return TimedAttributes(attributes(ofFixed: node), timeout: 0)
        case .controlDirectory: throw .notPermitted
        case .folder(let folder):
            guard let row = folder.groupRow else { return try keep(attributes(of: folder), changes) }
            try checkWritable()
            if let last = folder.group?.removedAttributes.apply(changes, at: Timestamp(keychain.now())) {
                return TimedAttributes(last, timeout: 0)
            }
            return TimedAttributes(attributes(of: try change(row, changes), folder), timeout: options.cacheTimeout)
        case .service(let directory):
            try checkWritable()
            if let last = directory.removedAttributes.apply(changes, at: Timestamp(keychain.now())) {
                return TimedAttributes(last, timeout: 0)
            }
            let record = try change(directory.row, changes)
            return TimedAttributes(attributes(of: record), timeout: timeout(of: directory))
        case .item(let file):
            try checkWritable()
            let caller = request.caller.userID
            return try withState(of: file) { (state) throws(Errno) in
                defer { state.forgetLongAttributes() }
                if let size = changes.size { try truncate(&state, to: size, changes, by: caller) }
                // Without changes, too: `chown(file, -1, -1)` marks the file as changed.
                if changes.changesFacts || changes.size == nil { try change(&state, changes, by: caller) }
                return timedAttributes(state, item: try item(of: &state))
            }
        }
    }

    /// Returns the attributes of a directory that exists in every mount, unchanged. Changes to the same values succeed
    /// (`rsync -a`, `tar` and `cp -a` set times, mode and owner of existing directories). Its times are those of the
    /// mount.
    private func keep(_ attributes: Attributes, _ changes: AttributeChanges) throws(Errno) -> TimedAttributes {
        guard changes.size == nil, changes.permissions ?? attributes.permissions == attributes.permissions,
            changes.userID ?? attributes.userID == attributes.userID,
            changes.groupID ?? attributes.groupID == attributes.groupID
        else { throw .notPermitted }
        return TimedAttributes(attributes, timeout: options.cacheTimeout)
    }

    // MARK: Items

    /// Returns the present item of a file; reads it if necessary.
    ///
    /// - Throws: ENOKEY if the lock state forbids it.
    func item(of state: inout ItemFile.State) throws(Errno) -> Item {
        if state.marks.takeStale(), !state.isPending, !state.isDetached { forgetStale(&state) }
        if let item = state.item {
            guard keychain.keys.isAvailable(item.protection) || staysUsable(state, item) else { throw .noKey }
            return item
        }
        guard !state.isDetached else { throw .noSuchFileOrDirectory }
        let row = state.row
        let item = try mapped { () throws(KeychainFault) in try keychain.item(id: row) }
        guard let item else { throw .noSuchFileOrDirectory }
        return show(item, &state)
    }

    /// Drops a cached item whose reference now belongs to another one. While locked it cannot be read again; it then
    /// gets a new reference here, because references are unique.
    private func forgetStale(_ state: inout ItemFile.State) {
        guard var item = state.item, isUsedWhileLocked(state, item) else { return state.item = nil }
        item.persistentReference = SecureRandom.bytes(MetadataCodec.referenceCount)
        state.item = item
    }

    /// Returns the attributes that all processes see: with a staged value its size and times (F2).
    func timedAttributes(_ state: borrowing ItemFile.State, item: Item) -> TimedAttributes {
        var attributes = attributes(of: item)
        if state.isDetached { attributes.linkCount = 0 }
        guard let stagedValue = state.stagedValue else {
            return TimedAttributes(attributes, timeout: options.cacheTimeout)
        }
        attributes.size = UInt64(stagedValue.count)
        if stagedValue.state.isUncommitted {
            let times = stagedValue.times
            attributes.modificationTime = Timestamp(times.modification)
            attributes.changeTime = max(attributes.changeTime, Timestamp(times.change))
        }
        return TimedAttributes(attributes, timeout: 0)
    }

    /// Changes mode, owner and times: immediately, or with the first commit of a pending name (F1).
    private func change(
        _ state: inout ItemFile.State, _ changes: AttributeChanges, by user: UInt32
    ) throws(Errno) {
        let now = keychain.now()
        try update(&state, by: user) { (item) throws(Errno) in
            item.file.apply(changes, now: now)
            return true
        }
        if let time = changes.modificationTime, let stagedValue = state.stagedValue {
            stagedValue.setModificationTime(time.date(now))
        }
    }

    /// Clears set-user-ID and set-group-ID when a user other than root writes. The kernel does that for truncate(2) and
    /// ftruncate(2), but neither for writes that bypass its page cache nor for O_TRUNC.
    func dropPrivileges(_ state: inout ItemFile.State, writtenBy caller: Caller) throws(Errno) {
        guard caller.userID != 0 else { return }
        let known = if let item = state.item { item } else { try item(of: &state) }
        guard known.file.hasPrivileges else { return }
        try update(&state, by: caller.userID) { (item) throws(Errno) in
            item.file.dropPrivileges()
            return true
        }
    }

    /// Edits an item, and commits the edit if there is a committed item.
    ///
    /// - Parameter edit: Returns whether it has changed anything. Setting an attribute to its present value marks the
    ///   item as changed, as POSIX requires.
    func update(
        _ state: inout ItemFile.State, by user: UInt32, _ edit: (inout Item) throws(Errno) -> Bool
    ) throws(Errno) {
        // The API may change the item in the meantime; the edit is then repeated.
        for _ in 0..<8 {
            var item = try item(of: &state)
            let before = item.protection
            guard try edit(&item) else { return }
            guard !state.isPending && !state.isDetached else {
                // Its commit would fail, or would turn into an addition that is not possible (L1).
                if item.protection != before {
                    let protection = item.protection
                    try mapped { () throws(KeychainFault) in try keychain.checkCanAdd(protection) }
                }
                try chargeAttributes(of: item, to: user, &state)
                item.modificationDate = keychain.now().after(item.modificationDate)
                state.item = item
                return moveStaging(&state)
            }
            let value = valueBeyondReach(of: item, &state)
            if let saved = try save(item, state) {
                (state.adopted, state.attributeCharge) = (nil, nil)
                show(saved, &state)
                moveStaging(&state)
                keepValue(&state, value)
                return keepOpenValue(&state)
            }
            readAgain(&state)
        }
        throw .resourceBusy
    }

    /// Returns the value of an open item that is about to get a class that cannot be opened now, if it can still be
    /// read.
    private func valueBeyondReach(of item: Item, _ state: inout ItemFile.State) -> SealedSecret? {
        guard state.openCount > 0, let old = state.item?.protection, old != item.protection,
            !keychain.keys.isAvailable(item.protection)
        else { return nil }
        return try? committedSecret(&state)
    }

    /// Commits an item. Returns nil if it has changed since it was read.
    private func save(_ item: Item, _ state: borrowing ItemFile.State) throws(Errno) -> Item? {
        do throws(KeychainFault) {
            return try keychain.change { (transaction) throws(KeychainFault) in try transaction.save(item) }
        } catch .staleItem {
            return isUsedWhileLocked(state, item) ? try saveLocked(item, state) : nil
        } catch .interactionNotAllowed where staysUsable(state, item) {
            return try saveLocked(item, state)
        } catch {
            throw error.errno
        }
    }

    // MARK: Directories

    /// Returns the record of a directory in the store.
    ///
    /// - Throws: ENOENT if it was removed; EBADMSG if its row is missing for another reason.
    func record(of directory: ServiceDirectory) throws(Errno) -> Directory {
        do {
            return try record(directory.row)
        } catch .noSuchFileOrDirectory {
            throw directory.pending.withLock { $0.isRemoved } ? .noSuchFileOrDirectory : .corrupt
        }
    }

    /// Returns the record of a row.
    ///
    /// - Throws: ENOENT if it does not exist.
    func record(_ row: RowID) throws(Errno) -> Directory {
        let record = try mapped { () throws(KeychainFault) in try keychain.directory(id: row) }
        guard let record else { throw .noSuchFileOrDirectory }
        return record
    }

    func attributes(of directory: Directory) -> Attributes {
        let owner = options.owner(of: directory.file)
        return Attributes(
            inode: InodeNumber(rawValue: directory.file.inode), type: .directory,
            permissions: directory.file.permissions, linkCount: 2, userID: owner.userID,
            groupID: owner.groupID, size: 0, accessTime: Timestamp(directory.file.accessTime),
            modificationTime: Timestamp(directory.file.modificationTime), changeTime: Timestamp(directory.changeDate))
    }

    /// Commits of pending names change the directory's times without a request of the kernel.
    func timeout(of directory: ServiceDirectory) -> Double {
        directory.pending.withLock { $0.rows.isEmpty } ? options.cacheTimeout : 0
    }

    private func change(_ row: RowID, _ changes: AttributeChanges) throws(Errno) -> Directory {
        guard changes.size == nil else { throw .isDirectory }
        let now = keychain.now()
        return try mapped { () throws(KeychainFault) in
            try keychain.change { (transaction) throws(KeychainFault) in
                guard var record = try transaction.directory(id: row) else { throw .itemNotFound }
                record.file.apply(changes, now: now)
                return try transaction.save(record)
            }
        }
    }

    private func currentAttributes(of folder: ScopeDirectory) throws(Errno) -> Attributes {
        guard let row = folder.groupRow else { return attributes(of: folder) }
        if let last = folder.group?.removedAttributes.attributes { return last }
        return attributes(of: try record(row), folder)
    }

    /// Returns the attributes of a directory that exists in every mount.
    func attributes(of folder: ScopeDirectory) -> Attributes {
        let (modified, changed) = times(of: folder)
        let time = Timestamp(started)
        return Attributes(
            inode: folder.inode, type: .directory, permissions: permissions(of: folder),
            linkCount: linkCount(of: folder),
            userID: options.userID, groupID: options.groupID, size: 0, accessTime: time,
            modificationTime: modified, changeTime: changed)
    }

    /// Returns the start of the mount, or the time at which a service in it was last created, renamed or removed, if
    /// that was later.
    private func times(of folder: ScopeDirectory) -> (modification: Timestamp, change: Timestamp) {
        let time = Timestamp(started)
        guard case .classDirectory(let classDirectory) = folder,
            let container = try? keychain.container(classDirectory.key)
        else {
            return (time, time)
        }
        return (max(time, Timestamp(container.file.modificationTime)), max(time, Timestamp(container.changeDate)))
    }

    /// Returns the permissions. With allow_other, other users may search all of these directories, and list those with
    /// fixed names only, because names of groups and services are private.
    private func permissions(of folder: ScopeDirectory) -> UInt32 {
        guard options.isShared else { return 0o700 }
        return folder.fixedCount == nil ? 0o711 : 0o755
    }

    /// Returns the attributes of a group.
    func attributes(of directory: Directory, _ folder: ScopeDirectory) -> Attributes {
        var attributes = attributes(of: directory)
        attributes.linkCount = linkCount(of: folder)
        return attributes
    }

    /// Returns 2 plus the number of directories in it; 1, "not counted", where users create directories.
    private func linkCount(of folder: ScopeDirectory) -> UInt32 {
        folder.fixedCount.map { 2 + UInt32($0) } ?? 1
    }

    /// Returns the attributes of a committed item.
    func attributes(of item: Item) -> Attributes {
        let owner = options.owner(of: item.file)
        return Attributes(
            inode: InodeNumber(rawValue: item.file.inode), type: .regular, permissions: item.file.permissions,
            linkCount: 1, userID: owner.userID, groupID: owner.groupID, size: UInt64(item.secretCount ?? 0),
            accessTime: Timestamp(item.file.accessTime), modificationTime: Timestamp(item.file.modificationTime),
            changeTime: Timestamp(item.modificationDate))
    }

    func attributes(ofFixed node: Node) -> Attributes {
        let (type, permissions): (FileType, UInt32) =
            switch node.content {
            case .controlFile(.status): (.regular, 0o400)
            case .controlFile(.control), .controlFile(.lock), .controlFile(.rpc): (.regular, 0o600)
            default: (.directory, 0o700)
            }
        let time = Timestamp(started)
        return Attributes(
            inode: InodeNumber(rawValue: node.id.rawValue), type: type, permissions: permissions,
            linkCount: type == .directory ? 2 : 1, userID: options.userID, groupID: options.groupID, size: 0,
            accessTime: time, modificationTime: time, changeTime: time)
    }
}

extension AttributeChanges {
    /// Whether mode, owner or times change.
    var changesFacts: Bool {
        permissions != nil || userID != nil || groupID != nil || accessTime != nil || modificationTime != nil
    }

    var onlyTruncates: Bool { size != nil && !changesFacts }
}

extension PosixAttributes {
    mutating func apply(_ changes: AttributeChanges, now: KeychainDate) {
        permissions = changes.permissions ?? permissions
        userID = changes.userID ?? userID
        groupID = changes.groupID ?? groupID
        accessTime = changes.accessTime?.date(now) ?? accessTime
        modificationTime = changes.modificationTime?.date(now) ?? modificationTime
    }
}

extension PosixAttributes {
    /// Linux takes set-group-ID of a file that its group cannot execute for mandatory locking, and keeps it.
    private var privileges: UInt32 { permissions & 0o010 != 0 ? 0o6000 : 0o4000 }

    /// Whether the mode has a bit that a write clears.
    fileprivate var hasPrivileges: Bool { permissions & privileges != 0 }

    fileprivate mutating func dropPrivileges() { permissions &= ~privileges }
}

extension AttributeChanges.Time {
    func date(_ now: KeychainDate) -> KeychainDate {
        switch self {
        case .now: now
        case .at(let time): KeychainDate(seconds: time.seconds, nanoseconds: time.nanoseconds)
        }
    }
}

extension Timestamp {
    init(_ date: KeychainDate) {
        self.init(seconds: date.seconds, nanoseconds: date.nanoseconds)
    }
}
