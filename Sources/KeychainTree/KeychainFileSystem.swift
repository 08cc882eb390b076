package import FileSystemCore
package import Keychain
import SecretCrypto
import Synchronization
import SystemPackage

/// A keychain as a file system: item classes and services are directories, items are files.
///
/// Independent of a kernel. The operations are in `Operations/`, one file per group of system calls. ``CommitState``
/// contains the rules for committing a written value, ``ItemFile`` the order of locks.
package final class KeychainFileSystem: FileSystem {
    package let keychain: KeychainStore
    let options: TreeOptions
    let host: any TreeHost
    let commands: any ControlCommandHandler
    /// The backend of the control file `rpc`; nil if the file does not exist.
    let requests: (any RPCBackend)?
    let stagingKeys = StagedValueKeys()
    /// The limit on the memory of staged values, long values of open descriptors, requests and responses together.
    let memory: MemoryBudget
    /// The limit on the data of WRITEs that wait. Not part of ``memory``, to which such data are charged afterwards.
    let waiting: MemoryBudget
    let listings = ListingCache()
    let stalePages = PageCacheUse()
    let released = ReleasedMemory()
    let lastUseTime = LastUse()
    let freeSpace = FreeSpaceEstimate()
    /// Locked during every change of a name: create, unlink, rename, mkdir, rmdir.
    let names = YieldingMutex<Void>(())
    let table: Mutex<InodeTable>
    /// The names that the process that freed them may reuse. No other lock is acquired while it is locked.
    let freedNames = Mutex(FreedNames<PredecessorItem>())
    /// The names of open files that locks have closed, which no lock has reported to the kernel yet. No other lock is acquired
    /// while it is locked.
    let closedNames = Mutex<[EntryReference]>([])
    let fixed: FixedNodes
    let started: KeychainDate

    /// The limit in bytes: 16 messages of maximum length.
    private static let waitingLimit = 16 << 20

    package init(
        keychain: KeychainStore, options: TreeOptions, host: any TreeHost, commands: any ControlCommandHandler,
        requests: (any RPCBackend)? = nil
    ) {
        self.keychain = keychain
        self.options = options
        self.host = host
        self.commands = commands
        self.requests = requests
        memory = MemoryBudget(limit: options.stagedLimit, unlimitedUsers: [0, options.userID])
        waiting = MemoryBudget(limit: Self.waitingLimit, unlimitedUsers: [0, options.userID])
        started = keychain.now()
        var table = InodeTable(root: Node(id: .root, content: .folder(.root)))
        fixed = FixedNodes(ControlFileKind.allCases.filter { $0 != .rpc || requests != nil }, &table)
        self.table = Mutex(table)
        keychain.watchChanges { [listings] in listings.invalidate($0) }
    }

    /// The number of bytes that are charged at present, and their limit.
    package var stagedMemory: (used: Int, limit: Int) { (memory.used, memory.limit) }

    /// Whether the mount or its store is read-only.
    package var isReadOnly: Bool { options.isReadOnly || keychain.isReadOnly }

    /// Returns the node with that ID.
    ///
    /// - Throws: ENOENT if the kernel should not know it.
    func node(_ id: NodeID) throws(Errno) -> Node {
        guard let node = table.withLock({ $0.node(id) }) else { throw .noSuchFileOrDirectory }
        return node
    }

    /// Returns the file of a node.
    ///
    /// - Throws: `error` if it is not an item.
    func itemFile(_ id: NodeID, else error: Errno = .notPermitted) throws(Errno) -> ItemFile {
        guard case .item(let file) = try node(id).content else { throw error }
        return file
    }

    func handle(_ id: HandleID) throws(Errno) -> Handle {
        guard let handle = table.withLock({ $0.handle(id) }) else { throw .badFileDescriptor }
        return handle
    }

    /// Requires that changes are possible.
    ///
    /// - Throws: EROFS on a read-only mount or store; ENOKEY before the first unlock, when no store accepts changes.
    func checkWritable() throws(Errno) {
        if isReadOnly { throw .readOnlyFileSystem }
        if keychain.keys.state == .beforeFirstUnlock { throw .noKey }
    }

    package func forget(_ node: NodeID, count: UInt64) {
        let isMostForgotten = table.withLock { $0.forget(node, count: count) }
        if isMostForgotten { host.trimMemory() }
    }

    package func destroy() {
        stagingKeys.revoke(.unlocked)
        stagingKeys.revoke(.firstUnlock)
        stagingKeys.revoke(.always)
        freedNames.withLock { $0.removeAll() }
    }
}

/// The nodes that exist in every mount, and their inode numbers, all below ``KeychainStore/firstRowID``.
struct FixedNodes: Sendable {
    let controlDirectory: Node
    let controlFiles: [(name: EntryName, file: ControlFileKind, node: Node)]

    static let controlName = Array(".keychainfs".utf8)

    init(_ controls: [ControlFileKind], _ table: inout InodeTable) {
        controlDirectory = table.addFixed(.controlDirectory)
        var files: [(EntryName, ControlFileKind, Node)] = []
        for file in controls {
            guard let name = EntryName(file.rawValue) else { continue }
            files.append((name, file, table.addFixed(.controlFile(file))))
        }
        controlFiles = files
    }
}
