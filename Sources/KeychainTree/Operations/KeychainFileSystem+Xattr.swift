package import FileSystemCore
import Keychain
import SecretCrypto
import Synchronization
package import SystemPackage

extension KeychainFileSystem {
    private static let namespace = Array("user.".utf8)

    package func getxattr(_ request: inout Request, node id: NodeID, name: [UInt8]) throws(Errno) -> [UInt8] {
        try checkNamespace(name)
        switch try node(id).content {
        case .item(let file): return try xattrs(of: file).get(name)
        case .service(let directory): return try xattrs(of: directory).get(name)
        case .folder(let folder): return try xattr(name, of: folder)
        case .controlDirectory, .controlFile: throw .noAttribute
        }
    }

    package func listxattr(_ request: inout Request, node id: NodeID) throws(Errno) -> [[UInt8]] {
        switch try node(id).content {
        case .item(let file): return try xattrs(of: file).list()
        case .service(let directory): return try xattrs(of: directory).list()
        case .folder(let folder): return try xattrs(of: folder)
        case .controlDirectory, .controlFile: return []
        }
    }

    package func setxattr(
        _ request: inout Request, node id: NodeID, name: [UInt8], value: RawSpan, flags: XattrFlags
    ) throws(Errno) {
        try checkNamespace(name)
        let bytes = [UInt8](copying: value)
        // The commit may take long, and the value may have 64 KiB.
        request.releaseMessage()
        // The attribute may be a part of the name.
        awaitIndexes(request)
        let node = try node(id)
        switch node.content {
        case .service(let directory): return try setxattr(of: directory, name, to: bytes, flags, by: request.caller)
        case .folder(let folder): return try setxattr(of: folder, name, to: bytes, flags, by: request.caller)
        case .item, .controlDirectory, .controlFile: break
        }
        guard case .item(let file) = node.content else { throw .operationNotSupported }
        try checkWritable()
        try checkFreeSpace(for: bytes.count)
        var move: ItemPrimaryKey?
        try withState(of: file) { (state) throws(Errno) in
            defer { state.forgetLongAttributes() }
            move = try apply(bytes, to: name, flags, &state, by: request.caller)
        }
        guard let move else { return }
        try relocate(file, to: move, &request)
    }

    package func removexattr(_ request: inout Request, node id: NodeID, name: [UInt8]) throws(Errno) {
        try checkNamespace(name)
        let node = try node(id)
        switch node.content {
        case .service(let directory): return try removexattr(of: directory, name, by: request.caller)
        case .folder(let folder): return try removexattr(of: folder, name, by: request.caller)
        case .item, .controlDirectory, .controlFile: break
        }
        guard case .item(let file) = node.content else { throw .noAttribute }
        try checkWritable()
        let caller = request.caller
        try withState(of: file) { (state) throws(Errno) in
            defer { state.forgetLongAttributes() }
            let directory = try record(of: state.directory)
            let container = state.directory.container
            try update(&state, by: caller.userID) { (item) throws(Errno) in
                let edited = try ItemXattrs(item, directory, container).remove(name)
                try options.checkProtection(item.protection, edited.protection, item.file, caller)
                item = edited
                return true
            }
        }
    }

    /// Rejects attributes without using the store, because the kernel queries them before each write (X4).
    private func checkNamespace(_ name: [UInt8]) throws(Errno) {
        guard name.starts(with: Self.namespace) else { throw .operationNotSupported }
        guard name.count > Self.namespace.count else { throw .invalidArgument }
    }

    private func xattrs(of file: ItemFile) throws(Errno) -> ItemXattrs {
        let found: (item: Item, directory: ServiceDirectory) = try withState(of: file) { (state) throws(Errno) in
            defer { state.forgetLongAttributes() }
            return (try item(of: &state), state.directory)
        }
        return ItemXattrs(found.item, try record(of: found.directory), found.directory.container)
    }

    // MARK: Renaming through an attribute

    private func apply(
        _ bytes: [UInt8], to name: [UInt8], _ flags: XattrFlags, _ state: inout ItemFile.State, by caller: Caller
    ) throws(Errno) -> ItemPrimaryKey? {
        let directory = try record(of: state.directory)
        let container = state.directory.container
        var move: ItemPrimaryKey?
        try update(&state, by: caller.userID) { (item) throws(Errno) in
            switch try ItemXattrs(item, directory, container).set(name, to: bytes, flags: flags) {
            case .nothing: return false
            case .item(let edited):
                try options.checkProtection(item.protection, edited.protection, item.file, caller)
                item = edited
                return true
            case .move(let primaryKey):
                move = primaryKey
                return false
            }
        }
        return move
    }

    /// Renames a file through setxattr, and notifies the kernel of both names (F10).
    ///
    /// The notification invalidates all names, which takes no lock. For kernels that do not support it, `inval_entry`
    /// waits for the directory's lock, whose holder may wait for the file's, which setxattr holds: it is therefore sent
    /// after the reply.
    ///
    /// - Throws: EEXIST if the name exists.
    private func relocate(_ file: ItemFile, to move: ItemPrimaryKey, _ request: inout Request) throws(Errno) {
        let caller = request.caller
        // The kernel checks the permission to write the item, not the permissions in its directories that a rename
        // needs.
        try checkOwner(caller)
        let moved = try names.withLock { (_) throws(Errno) in
            try withState(of: file) { (state) throws(Errno) in
                defer { state.forgetLongAttributes() }
                return try relocate(&state, to: move, caller)
            }
        }
        request.notificationsBeforeReply.append(.allEntries(fallback: { [] }))
        request.notificationsAfterReply.append(
            .allEntries(fallback: { [self] in [moved, name(of: move)].compactMap(\.self) }))
    }

    /// Moves the item. Returns the former name.
    private func relocate(
        _ state: inout ItemFile.State, to move: ItemPrimaryKey, _ caller: Caller
    ) throws(Errno) -> EntryReference? {
        guard !state.isDetached else { throw .noSuchFileOrDirectory }
        let old = (name: CanonicalName(account: try item(of: &state).account), directory: state.directory)
        let name = CanonicalName(account: move.account)
        try checkNameIsReadable(name, of: move)
        let known = try knownDirectory(of: move)
        if known?.pendingFile(name) != nil { throw .fileExists }
        let posixAttributes = newAttributes(0o700, caller)
        var group = RowID.none
        try self.move(&state, to: move.account) { (transaction) throws(KeychainFault) in
            let container = try transaction.container(move.container, file: containerAttributes)
            group = container.parent
            if let directory = try transaction.directory(
                named: CanonicalName(service: move.service), in: move.container)
            {
                return directory.id
            }
            let directory = try transaction.addDirectory(
                .service(move.service), in: container.id, file: posixAttributes)
            try transaction.touchDirectory(container.id)
            return directory.id
        }
        // It is committed: a lock in the meantime must not cause an error.
        let row = state.item?.directory ?? old.directory.row
        state.directory = known ?? unknownDirectory(row, move.container, group)
        take(name, in: row)
        return EntryName(old.name.bytes).map { EntryReference(parent: old.directory.node, name: $0) }
    }

    /// Requires that the item with a name is available, such as the target of a rename (L1).
    ///
    /// - Throws: ENOKEY.
    private func checkNameIsReadable(_ name: CanonicalName, of primaryKey: ItemPrimaryKey) throws(Errno) {
        guard keychain.keys.mayLackKeys else { return }
        do throws(KeychainFault) {
            let service = CanonicalName(service: primaryKey.service)
            guard let directory = try keychain.directory(named: service, in: primaryKey.container) else { return }
            _ = try keychain.item(named: name, in: directory.id)
        } catch .interactionNotAllowed {
            throw .noKey
        } catch {
            // Damaged: the name exists, which the commit reports.
        }
    }

    /// Returns the directory of a service, if it exists and the kernel knows it.
    private func knownDirectory(of primaryKey: ItemPrimaryKey) throws(Errno) -> ServiceDirectory? {
        let found = try mapped { () throws(KeychainFault) in
            try keychain.directory(named: CanonicalName(service: primaryKey.service), in: primaryKey.container)
        }
        return found.flatMap { directory in table.withLock { $0.service(directory.id) } }
    }

    /// Returns a directory that the kernel does not know, with a new node ID.
    func unknownDirectory(_ row: RowID, _ key: ContainerKey, _ group: RowID) -> ServiceDirectory {
        table.withLock { table in
            if let known = table.service(row) { return known }
            let group =
                group == .none ? .standard : table.group(group) ?? AccessGroup(row: group, name: key.accessGroup)
            let classDirectory = ClassDirectory(
                group: group, itemClass: key.itemClass, isSynchronizable: key.isSynchronizable)
            return ServiceDirectory(node: table.makeID(), row: row, classDirectory: classDirectory)
        }
    }
}

extension ItemXattrs {
    init(_ item: Item, _ directory: Directory, _ container: ContainerKey) {
        self.item = item
        self.container = container
        service = directory.key.service
        defaultProtection = directory.defaultProtection
    }
}
