import FileSystemCore
import FileSystemTesting
import Fuse
import Keychain
import KeychainTesting
import SecretCrypto
import Synchronization
import SystemPackage
import TestSupport

@testable import KeychainTree

/// The layers between a client and the tree. Each back end tests more of them than the one before it.
enum BackEnd: String, CaseIterable, Sendable {
    /// Nothing: the tree's own logic.
    case inProcess
    /// libfuse's decoder and the binding, over a socket pair.
    case session
    /// The kernel, with its caches, locks and checks.
    case mounted
    /// A mount without FUSE_NOTIFY_INC_EPOCH, as before Linux 6.16.
    case mountedBeforeEpochs

    /// The back ends of this lane: the quick lane uses no mount.
    static let available = TestLane.hasMounts ? allCases : [.inProcess, .session]

    /// Whether the condition holds now. Without epochs: whether it holds soon after an attribute has moved an item, because the
    /// kernel is notified of the old and of the new name after the reply (it may hold the file's lock until then, F10).
    func soon(_ isSo: () -> Bool) -> Bool {
        self == .mountedBeforeEpochs ? eventually(isSo) : isSo()
    }

    /// Runs `body` with a client of a new keychain that has a service directory `/generic-passwords/s`.
    func run(_ body: (any FileClient, Fixture) throws -> Void) throws {
        let fixture = try Fixture()
        switch self {
        case .inProcess: try fixture.use(PathClient(fixture.tree), body)
        case .session:
            let session = try WireSession(fixture.tree)
            defer { session.stop() }
            try fixture.use(PathClient(session.wire, maximumWrite: 65_536), body)
        case .mounted, .mountedBeforeEpochs:
            let session = try MountedSession(fixture.tree) {
                if self == .mountedBeforeEpochs { $0.newestProtocolMinor = 43 }
            }
            defer { session.stop() }
            try fixture.use(session.client, body)
        }
    }
}

/// A tree over a keychain in memory.
struct Fixture: Sendable {
    let store = InMemoryRecordStore()
    let keychain: KeychainStore
    let tree: KeychainFileSystem

    static let directory = "/generic-passwords/s"

    init() throws {
        let device = try SecretBytes(randomCount: 32)
        try KeyRing.create(in: store, passphrase: try Self.passphrase(), cost: .cheap, device: device)
        let keys = try KeyRing(store: store, device: device)
        try keys.unlock(passphrase: try Self.passphrase())
        let seconds = Atomic<Int64>(1_700_000_000)
        let clock = Clock(seconds)
        keychain = KeychainStore(store: store, keys: keys) { clock.now() }
        tree = KeychainFileSystem(
            keychain: keychain, options: TreeOptions(userID: 0, groupID: 0), host: Host(), commands: Commands())
    }

    static func passphrase() throws -> SecretBytes { try SecretBytes(text: "correct horse") }

    func use(_ client: any FileClient, _ body: (any FileClient, Fixture) throws -> Void) throws {
        try client.mkdir(Self.directory)
        try body(client, self)
    }

    /// The number of commits that `body` causes.
    func commits(_ body: () throws -> Void) rethrows -> Int {
        let before = keychain.commitCount
        try body()
        return keychain.commitCount - before
    }
}

/// A clock that advances by a second each time it is read.
private final class Clock: Sendable {
    private let seconds: Atomic<Int64>

    init(_ seconds: consuming Atomic<Int64>) { self.seconds = seconds }

    func now() -> KeychainDate { KeychainDate(seconds: seconds.add(1, ordering: .relaxed).newValue) }
}

struct Host: TreeHost {
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

struct Commands: ControlCommandHandler {
    func status(of tree: KeychainFileSystem) -> [UInt8] { Array("{\"state\": \"unlocked\"}\n".utf8) }

    func run(_ command: RawSpan, on tree: KeychainFileSystem, request: inout Request) throws(KeychainFault) -> [UInt8] {
        guard [UInt8](copying: command) == Array("lock\n".utf8) else { throw .param }
        request.notificationsBeforeReply += tree.lock()
        return Array("locked\n".utf8)
    }
}
