package import FileSystemCore
import Keychain
import Synchronization
package import SystemPackage

extension KeychainFileSystem {
    package func mkdir(
        _ request: inout Request, parent: NodeID, name: EntryName, permissions: UInt32
    ) throws(Errno) -> Entry {
        guard case .folder(let folder) = try node(parent).content else { throw .notPermitted }
        awaitIndexes(request)
        let posixAttributes = newAttributes(permissions & 0o700, request.caller)
        switch folder {
        case .scope: throw .notPermitted
        case .groups: return try makeGroup(CanonicalName(typed: name.bytes), posixAttributes)
        case .classDirectory(let classDirectory):
            return try makeService(CanonicalName(typed: name.bytes), in: classDirectory, posixAttributes)
        }
    }

    /// Called before a name is added or a directory is removed, which cannot be undone if an index has missed a row.
    /// The caller holds no lock, and other requests are served in the meantime.
    func awaitIndexes(_ request: borrowing Request) {
        guard keychain.areIndexesAwaited else { return }
        request.willBlock()
        keychain.awaitIndexes()
    }

    /// Called before a file is committed. Waits only if the commit adds its name.
    func awaitIndexes(before file: ItemFile, _ request: borrowing Request) {
        guard keychain.areIndexesAwaited, withState(of: file, { $0.isPending }) else { return }
        awaitIndexes(request)
    }

    /// Called before a listing, and for a name that is not found: while wrong indexes may be rebuilt, no name can be reported as
    /// absent.
    func awaitRebuild(_ request: borrowing Request) {
        if keychain.missesRows { awaitIndexes(request) }
    }

    /// Looks up a name. If it is not found while wrong indexes may be rebuilt, waits for the end of that and repeats the lookup
    /// once.
    ///
    /// - Parameter body: The lookup. It changes nothing if it throws EBADMSG.
    func lookingUp<Result>(
        _ request: borrowing Request, _ body: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        let mayBeRebuilt = keychain.areIndexesAwaited
        do throws(Errno) {
            return try body()
        } catch {
            guard error == .corrupt, mayBeRebuilt else { throw error }
            // Does not wait for a comparison in progress: then the item itself is damaged.
            awaitRebuild(request)
            return try body()
        }
    }

    private func makeService(
        _ name: CanonicalName, in classDirectory: ClassDirectory, _ posixAttributes: PosixAttributes
    ) throws(Errno) -> Entry {
        try checkWritable()
        try checkFreeSpace(for: 0)
        let service = try uncutKey(service(name, classDirectory.itemClass))
        let directory = try names.withLock { (_) throws(Errno) in
            try mapped { () throws(KeychainFault) in
                try keychain.change { (transaction) throws(KeychainFault) in
                    let container = try container(of: classDirectory, transaction)
                    let directory = try transaction.addDirectory(
                        .service(service), in: container.id, file: posixAttributes)
                    try transaction.touchDirectory(container.id)
                    return directory
                }
            }
        }
        return entry(of: directory, in: classDirectory)
    }

    /// Returns the container of a class directory; creates it if necessary.
    ///
    /// - Throws: `itemNotFound` if its group has been removed.
    func container(of classDirectory: ClassDirectory, _ transaction: Transaction) throws(KeychainFault) -> Directory {
        if classDirectory.group.row != .none, try transaction.directory(id: classDirectory.group.row) == nil {
            throw .itemNotFound
        }
        return try transaction.container(classDirectory.key, file: containerAttributes)
    }

    package func unlink(_ request: inout Request, parent: NodeID, name: EntryName) throws(Errno) {
        switch try node(parent).content {
        case .folder: throw .isDirectory
        case .service(let directory):
            try checkWritable()
            let name = CanonicalName(typed: name.bytes)
            let caller = request.caller
            try lookingUp(request) { () throws(Errno) in
                try names.withLock { (_) throws(Errno) in
                    if let file = try uncommitted(name, in: directory), unlinkPending(file) { return }
                    let item = try unlinkCommitted(name, in: directory, by: caller.userID)
                    if let item { freed(name, of: item, by: process(of: caller)) }
                }
            }
        default: throw .notPermitted
        }
    }

    package func rmdir(_ request: inout Request, parent: NodeID, name: EntryName) throws(Errno) {
        guard case .folder(let folder) = try node(parent).content else { throw .notPermitted }
        awaitIndexes(request)
        let name = CanonicalName(typed: name.bytes)
        switch folder {
        case .scope: throw .notPermitted
        case .groups: try removeGroup(name)
        case .classDirectory(let classDirectory): try removeService(name, in: classDirectory)
        }
    }

    private func removeService(_ name: CanonicalName, in classDirectory: ClassDirectory) throws(Errno) {
        try checkWritable()
        try names.withLock { (_) throws(Errno) in
            let directory = try existingDirectory(name, classDirectory.key)
            try checkEmpty(directory.id)
            let known = table.withLock { $0.service(directory.id) }
            try removing(known) { () throws(Errno) in
                try mapped { () throws(KeychainFault) in
                    try keychain.change { (transaction) throws(KeychainFault) in
                        try transaction.deleteDirectory(directory.id)
                        try transaction.touchDirectory(directory.parent)
                    }
                }
            }
        }
    }

    // MARK: Items

    /// Deletes an item. Returns it; nil if it was damaged.
    private func unlinkCommitted(
        _ name: CanonicalName, in directory: ServiceDirectory, by user: UInt32
    ) throws(Errno) -> Item? {
        let (row, item) = try found(name, in: directory)
        guard let file = table.withLock({ $0.item(row) }) else {
            try mapped { () throws(KeychainFault) in try deleteItem(row, in: directory) }
            return item
        }
        try withState(of: file) { (state) throws(Errno) in
            let value = try detachable(&state, by: user)
            try mapped { () throws(KeychainFault) in try deleteItem(row, in: directory) }
            detach(&state, keeping: value)
        }
        return item
    }

    /// Returns the row of a name to be removed, and its item unless it is damaged.
    ///
    /// - Throws: ENOKEY while it is not available. Damage is not an obstacle.
    private func found(
        _ name: CanonicalName, in directory: ServiceDirectory
    ) throws(Errno) -> (row: RowID, item: Item?) {
        do {
            guard let item = try keychain.item(named: name, in: directory.row) else {
                throw Errno.noSuchFileOrDirectory
            }
            return (item.id, item)
        } catch KeychainFault.interactionNotAllowed {
            // L6: another device's item can never be opened here; it can only be deleted.
            let foreign = try mapped { () throws(KeychainFault) in
                try keychain.foreignRow(named: name, in: directory.row)
            }
            guard let foreign else { throw .noKey }
            return (foreign, nil)
        } catch KeychainFault.decode {
            let row = try mapped { () throws(KeychainFault) in
                try keychain.row(named: name, in: directory.row)
            }
            guard let row else { throw .noSuchFileOrDirectory }
            return (row, nil)
        } catch let error as KeychainFault {
            throw error.errno
        } catch {
            throw .noSuchFileOrDirectory
        }
    }

    /// Deletes an item. On a full disk retries after the log has been truncated, because a deletion frees space.
    private func deleteItem(_ row: RowID, in directory: ServiceDirectory) throws(KeychainFault) {
        do {
            try deleteItemOnce(row, in: directory)
        } catch .diskFull where keychain.freesSpace() {
            try deleteItemOnce(row, in: directory)
        }
    }

    private func deleteItemOnce(_ row: RowID, in directory: ServiceDirectory) throws(KeychainFault) {
        try keychain.change { (transaction) throws(KeychainFault) in
            try transaction.deleteItem(row)
            try transaction.touchDirectory(directory.row)
        }
    }

    /// Returns the committed value for a file that is about to be detached (F6), even if it is not open: another
    /// process may have looked its name up and be about to open it.
    ///
    /// The value is lost if the budget of `user`, who removes the name, is exhausted; descriptors for reading have
    /// their own reference.
    func detachable(_ state: inout ItemFile.State, by user: UInt32) throws(Errno) -> DetachedValue {
        _ = try? item(of: &state)
        try chargeDetached(to: user, &state)
        do {
            let secret = try committedSecret(&state)
            do { try charge(secret, to: user) } catch { return .lost }
            return .kept(secret)
        } catch {
            guard error == .corrupt || state.openCount == 0 else { throw error }
            return .lost
        }
    }

    /// Detaches a file whose row has been deleted: only its descriptors refer to it.
    func detach(_ state: inout ItemFile.State, keeping value: DetachedValue) {
        state.detachedValue = value
        // The change time of the link count, which its descriptors can see.
        if state.openCount > 0, var item = state.item {
            item.modificationDate = keychain.now().after(item.modificationDate)
            state.item = item
        }
        let row = state.row
        table.withLock { $0.detachItem(row) }
    }

    /// Returns false for a file that has been committed since its name was looked up.
    private func unlinkPending(_ file: ItemFile) -> Bool {
        withState(of: file) { state in
            guard state.isPending else { return false }
            returnFreedName(detachPending(&state))
            return true
        }
    }

    /// Detaches a pending file. Data that is still written to it is dropped. Returns the freed name that it would have
    /// continued.
    func detachPending(_ state: inout ItemFile.State) -> FreedName? {
        guard let item = state.item else { return nil }
        state.directory.removePending(CanonicalName(account: item.account), state.row)
        (state.isPending, state.isNeverCommitted) = (false, true)
        detach(&state, keeping: .kept(nil))
        // It no longer continues the item of a freed name, so only its own class counts.
        moveStaging(&state)
        defer { state.freed = nil }
        return state.freed
    }

    // MARK: Directories

    func existingDirectory(_ name: CanonicalName, _ key: ContainerKey) throws(Errno) -> Directory {
        let found = try mapped { () throws(KeychainFault) in
            try keychain.directory(named: name, in: key)
        }
        guard let found else { throw .noSuchFileOrDirectory }
        return found
    }

    /// Requires that a directory is empty.
    ///
    /// - Throws: ENOTEMPTY if it has an entry; ENOKEY if it contains an unavailable item (L1).
    func checkEmpty(_ directory: RowID) throws(Errno) {
        let first = try mapped { () throws(KeychainFault) in
            try keychain.items(in: directory, after: .none, limit: 1).first
        }
        switch first {
        case nil:
            guard table.withLock({ $0.service(directory) })?.hasPending == true else { return }
            try checkAvailable(directory)
            throw .directoryNotEmpty
        case .unavailable, .foreign: throw .noKey
        case .available, .damaged:
            try checkAvailable(directory)
            throw .directoryNotEmpty
        }
    }

    /// Requires that a directory contains no unavailable item, committed or not (L1).
    ///
    /// - Throws: ENOKEY.
    func checkAvailable(_ directory: RowID) throws(Errno) {
        guard keychain.keys.mayLackKeys else { return }
        for (_, file) in table.withLock({ $0.service(directory) })?.pendingFiles(after: .none) ?? [] {
            let item = withState(of: file) { $0.isPending ? $0.item : nil }
            if let item, !keychain.keys.isAvailable(item.protection) { throw .noKey }
        }
        var after = RowID.none
        while true {
            let page = try mapped { () throws(KeychainFault) in
                try keychain.items(in: directory, after: after, limit: 256)
            }
            for entry in page {
                switch entry {
                case .unavailable, .foreign: throw .noKey
                case .available, .damaged: continue
                }
            }
            guard let last = page.last else { return }
            after = last.id
        }
    }

    /// Prevents that names are created in a directory while its row is removed.
    func removing(_ directory: ServiceDirectory?, _ body: () throws(Errno) -> Void) throws(Errno) {
        guard let directory else { return try body() }
        let isEmpty = directory.pending.withLock { pending in
            guard pending.rows.isEmpty else { return false }
            pending.isRemoved = true
            return true
        }
        guard isEmpty else { throw .directoryNotEmpty }
        let last = try? record(of: directory)
        do {
            try body()
        } catch {
            directory.pending.withLock { $0.isRemoved = false }
            throw error
        }
        if let last { directory.removedAttributes.keep(attributes(of: last), at: Timestamp(keychain.now())) }
        table.withLock { $0.detachDirectory(directory.row) }
    }

    func newAttributes(_ permissions: UInt32, _ caller: Caller) -> PosixAttributes {
        let now = keychain.now()
        return PosixAttributes(
            inode: 0, permissions: permissions, userID: caller.userID, groupID: caller.groupID, modificationTime: now,
            accessTime: now)
    }

    /// The attributes of a class's container, which is created with its first directory.
    var containerAttributes: PosixAttributes {
        newAttributes(0o700, Caller(userID: options.userID, groupID: options.groupID, processID: 0))
    }
}
