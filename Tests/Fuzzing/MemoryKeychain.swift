import FileSystemCore
import FileSystemTesting
import Keychain
import KeychainTesting
import KeychainTree
import SecretCrypto
import SystemPackage

/// A keychain in memory with items of several classes, made once; each input gets a copy of its rows.
struct MemoryKeychain {
    let store: InMemoryRecordStore
    let keychain: KeychainStore
    let tree: KeychainFileSystem

    /// The paths of the items and their values.
    static let contents: [String: [UInt8]] = [
        "/generic-passwords/s/alice": Array("secret of alice".utf8),
        "/generic-passwords/s/always": Array("no secret".utf8),
        "/generic-passwords/s/empty": [],
        "/internet-passwords/example.com,protocol=https/bob": [UInt8](repeating: 0x42, count: 70_000),
        "/access-groups/team/generic-passwords/s/carol": Array("secret of carol".utf8),
    ]
    static let passphrase = Array("correct".utf8)

    /// The rows of a keychain that has these contents.
    static let original = Result { try made() }

    /// A copy of the original, or of other rows; still locked.
    init(
        _ records: InMemoryRecords? = nil, commitNumberStore: (any CommitNumberStore)? = nil,
        commands: any ControlCommandHandler
    )
        throws
    {
        store = InMemoryRecordStore(try records ?? Self.original.get())
        let keys = try KeyRing(store: store, device: Self.device(), commitNumberStore: commitNumberStore)
        keychain = KeychainStore(store: store, keys: keys) { .example }
        tree = KeychainFileSystem(
            keychain: keychain, options: TreeOptions(userID: 0, groupID: 0), host: QuietHost(), commands: commands)
    }

    init(_ records: InMemoryRecords? = nil, commitNumberStore: (any CommitNumberStore)? = nil) throws {
        try self.init(records, commitNumberStore: commitNumberStore, commands: NoCommands())
    }

    static func secret() throws -> SecretBytes { try SecretBytes(copying: passphrase.span.bytes) }

    /// The passphrase where errors are the keychain's.
    static func typed() throws(KeychainFault) -> SecretBytes {
        do throws(CryptoError) { return try SecretBytes(copying: passphrase.span.bytes) } catch { throw .allocate }
    }

    private static func device() throws -> SecretBytes {
        try SecretBytes(copying: [UInt8](repeating: 1, count: 32).span.bytes)
    }

    func unlock() throws { try keychain.keys.unlock(passphrase: Self.secret()) }

    /// A process that has the tree before it.
    var client: PathClient { PathClient(tree) }

    private static func made() throws -> InMemoryRecords {
        let empty = InMemoryRecordStore()
        try KeyRing.create(in: empty, passphrase: secret(), cost: .cheap, device: device())
        let made = try MemoryKeychain(empty.records)
        try made.unlock()
        let client = made.client
        for directory in [
            "/generic-passwords/s", "/internet-passwords/example.com,protocol=https", "/access-groups/team",
            "/access-groups/team/generic-passwords/s",
        ] { try client.mkdir(directory) }
        for (path, bytes) in contents.sorted(by: { $0.key < $1.key }) { try client.put(path, bytes) }
        try client.setxattr("/generic-passwords/s/always", "user.kSecAttrAccessible", "Always")
        try client.setxattr("/generic-passwords/s/alice", "user.kSecAttrLabel", "a label")
        return made.store.records
    }
}

/// A system on which nothing happens.
struct QuietHost: TreeHost {
    func isDyingOfSignal(_ processID: Int32) -> Bool { false }
    func process(ofThread threadID: Int32) -> ProcessIdentity? { nil }
    var uptime: Duration { .zero }

    func statistics() throws(Errno) -> FileSystemStatistics {
        FileSystemStatistics(
            blockSize: 4096, blocks: 1 << 20, freeBlocks: 1 << 20, availableBlocks: 1 << 20, files: 0, freeFiles: 0,
            maximumNameLength: 255)
    }

    func trimMemory() {}
}

struct NoCommands: ControlCommandHandler {
    func status(of tree: KeychainFileSystem) -> [UInt8] { [] }

    func run(_ command: RawSpan, on tree: KeychainFileSystem, request: inout Request) throws(KeychainFault) -> [UInt8] {
        throw .param
    }
}
