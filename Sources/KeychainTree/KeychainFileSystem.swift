package import FileSystemCore
package import Keychain
import SecretCrypto
import Synchronization
import SystemPackage

/// A keychain as a file system: classes and services are directories, an item is a file.
///
/// Works without a kernel. The operations are in `Operations/`, one file per group of system calls; the rules of when a
/// written value counts are in ``CommitState``, the order of locks at ``ItemFile``.
package final class KeychainFileSystem: FileSystem {
    package let keychain: KeychainStore
    let options: TreeOptions
    let host: any TreeHost
    let commands: any ControlCommandHandler
    /// Who carries out what is asked through `rpc`; nil: there is no such file.
    let requests: (any RPCBackend)?
    let stagingKeys = StagedValueKeys()
    /// The limit on staged values, long values of open descriptors, requests and answers together.
    let memory: MemoryBudget
    /// The limit on data of WRITEs that wait. Not part of ``memory``: such data is about to be charged there.
    let waiting: MemoryBudget
    let listings = ListingCache()
    let stalePages = PageCacheUse()
    let released = ReleasedMemory()
    let lastUseTime = LastUse()
    let freeSpace = FreeSpaceEstimate()
    /// Held by whoever changes a name: create, unlink, rename, mkdir, rmdir.
    let names = Mutex<Void>(())
    let table: Mutex<InodeTable>
    /// Names that may be taken again by the process that freed them; no lock is taken under its own.
    let freedNames = Mutex(FreedNames<PredecessorItem>())
    let fixed: FixedNodes
    let started: KeychainDate

    /// In bytes: 16 of the longest messages.
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

    /// Bytes that are charged now, and their limit.
    package var stagedMemory: (used: Int, limit: Int) { (memory.used, memory.limit) }

    /// Whether the mount or its store takes no changes.
    package var isReadOnly: Bool { options.isReadOnly || keychain.isReadOnly }

    /// The node of that number; ENOENT if the kernel should not know it.
    func node(_ id: NodeID) throws(Errno) -> Node {
        guard let node = table.withLock({ $0.node(id) }) else { throw .noSuchFileOrDirectory }
        return node
    }

    /// The file of that node; `error` if it is no item.
    func itemFile(_ id: NodeID, else error: Errno = .notPermitted) throws(Errno) -> ItemFile {
        guard case .item(let file) = try node(id).content else { throw error }
        return file
    }

    func handle(_ id: HandleID) throws(Errno) -> Handle {
        guard let handle = table.withLock({ $0.handle(id) }) else { throw .badFileDescriptor }
        return handle
    }

    /// EROFS on a mount or store that takes no changes; ENOKEY before the first unlock, when no store does.
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

/// The nodes that are there whatever the keychain holds, and their inode numbers, all below ``Keychain/firstRowID``.
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
