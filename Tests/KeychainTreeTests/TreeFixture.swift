import FileSystemCore
import Keychain
import KeychainTesting
import SecretCrypto
import Synchronization
import SystemPackage

@testable import KeychainTree

/// A tree over a keychain in memory: no kernel, no libfuse, no disk.
struct TreeFixture: Sendable {
    let store: InMemoryRecordStore
    let keychain: KeychainStore
    let tree: KeychainFileSystem
    let host = FakeHost()
    let clock: FakeClock

    static let passphrase = Array("correct horse".utf8)

    init(
        valueLimit: Int = 1 << 20, stagedLimit: Int = 64 << 20, requests: (any RPCBackend)? = nil,
        commitNumberStore: (any CommitNumberStore)? = nil, commands: any ControlCommandHandler = NoCommands(),
        commandLimit: CommandLimit? = nil
    ) throws {
        store = InMemoryRecordStore()
        try KeyRing.create(
            in: store, passphrase: try Self.secret(), cost: .cheap, device: try Self.device(1),
            commitNumberStore: commitNumberStore)
        (keychain, clock) = try Self.keychain(in: store, device: 1, commitNumberStore: commitNumberStore)
        var options = TreeOptions(userID: 1000, groupID: 1000)
        (options.valueLimit, options.stagedLimit, options.commandLimit) = (valueLimit, stagedLimit, commandLimit)
        tree = KeychainFileSystem(
            keychain: keychain, options: options, host: host, commands: commands, requests: requests)
    }

    /// A copy of a store, opened on another device.
    init(copying records: InMemoryRecords, device: UInt8 = 2, isShared: Bool = false, isUnlocked: Bool = true) throws {
        store = InMemoryRecordStore(records)
        (keychain, clock) = try Self.keychain(in: store, device: device, isUnlocked: isUnlocked)
        var options = TreeOptions(userID: 1000, groupID: 1000)
        options.isShared = isShared
        tree = KeychainFileSystem(keychain: keychain, options: options, host: host, commands: NoCommands())
    }

    private static func device(_ number: UInt8) throws -> SecretBytes {
        let bytes = [UInt8](repeating: number, count: 32)
        return try SecretBytes(copying: bytes.rawSpan)
    }

    private static func keychain(
        in store: InMemoryRecordStore, device number: UInt8, isUnlocked: Bool = true,
        commitNumberStore: (any CommitNumberStore)? = nil
    ) throws -> (KeychainStore, FakeClock) {
        let keys = try KeyRing(store: store, device: try device(number), commitNumberStore: commitNumberStore)
        if isUnlocked { try keys.unlock(passphrase: try secret()) }
        let clock = FakeClock()
        return (KeychainStore(store: store, keys: keys) { clock.tick() }, clock)
    }

    /// Another mount of the same keychain.
    init(mounting other: TreeFixture, isReadOnly: Bool = false) throws {
        (store, keychain, clock) = (other.store, other.keychain, other.clock)
        var options = TreeOptions(userID: 1000, groupID: 1000)
        options.isReadOnly = isReadOnly
        tree = KeychainFileSystem(keychain: keychain, options: options, host: host, commands: NoCommands())
    }

    static func secret() throws -> SecretBytes {
        let bytes = passphrase
        return try SecretBytes(copying: bytes.rawSpan)
    }

    /// Returns the number of commits of `body`.
    func commits<Result>(_ body: () throws -> Result) rethrows -> Int {
        let before = keychain.commitCount
        _ = try body()
        return keychain.commitCount - before
    }
}

/// A clock that advances a second each time it is read.
final class FakeClock: Sendable {
    private let seconds = Atomic<Int64>(1_700_000_000)

    func tick() -> KeychainDate { KeychainDate(seconds: seconds.add(1, ordering: .relaxed).newValue) }

    /// Sets the system's clock forward or back.
    func move(by change: Int64) { seconds.add(change, ordering: .relaxed) }
}

/// A system whose disk and callers do as a test says.
final class FakeHost: TreeHost {
    let dying = Mutex<Set<Int32>>([])
    /// Few enough to be queried each time (``FreeSpaceEstimate``).
    static let plentyOfBlocks: UInt64 = 1 << 16
    let freeBlocks = Mutex(FakeHost.plentyOfBlocks)
    /// The error of the disk's statistics.
    let statisticsError = Mutex<Errno?>(nil)
    /// The number of calls to trim memory.
    let givenBack = Atomic<Int>(0)

    /// Threads of processes other than their own.
    let groups = Mutex<[Int32: ProcessIdentity]>([:])
    let clock = Mutex<Duration>(.seconds(1000))
    /// Called while a process is queried.
    let meanwhile = Mutex<(@Sendable () -> Void)?>(nil)

    func isDyingOfSignal(_ processID: Int32) -> Bool { dying.withLock { $0.contains(processID) } }

    /// Thread IDs below 1 are those of threads that cannot be examined.
    func process(ofThread threadID: Int32) -> ProcessIdentity? {
        meanwhile.withLock { $0 }?()
        if let process = groups.withLock({ $0[threadID] }) { return process }
        return threadID > 0 ? ProcessIdentity(group: threadID, startTime: 1) : nil
    }

    var uptime: Duration { clock.withLock { $0 } }

    func statistics() throws(Errno) -> FileSystemStatistics {
        if let error = statisticsError.withLock({ $0 }) { throw error }
        let free = freeBlocks.withLock { $0 }
        return FileSystemStatistics(
            blockSize: 4096, blocks: 1 << 30, freeBlocks: free, availableBlocks: free, files: 0, freeFiles: 0,
            maximumNameLength: 255)
    }

    func trimMemory() { givenBack.add(1, ordering: .relaxed) }
}

struct NoCommands: ControlCommandHandler {
    func status(of tree: KeychainFileSystem) -> [UInt8] { Array("{}\n".utf8) }

    func run(_ command: RawSpan, on tree: KeychainFileSystem, request: inout Request) throws(KeychainFault) -> [UInt8] {
        guard [UInt8](copying: command) == Array("lock\n".utf8) else { throw .param }
        request.notificationsBeforeReply += tree.lock()
        return Array("locked\n".utf8)
    }
}
