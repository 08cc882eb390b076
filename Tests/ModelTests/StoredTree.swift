import FileSystemCore
import FileSystemTesting
import Foundation
import Keychain
import KeychainStorage
import KeychainTesting
import ModelTesting
import SecretCrypto
import Synchronization
import SystemPackage

@testable import KeychainMount
@testable import KeychainTree

/// A tree over a keychain in a file, with some processes: what a mount is, without a kernel and without its daemon.
final class StoredTree: SystemUnderTest {
    static let valueLimit = 65_536
    static let timeout = 0.0

    private let folder: URL
    private let disk: FailingDisk
    /// The number of times that the keychain was opened: after a kill a copy is used.
    private var generation = 0
    private let host = ModelHost()
    private let clock = ModelClock()
    private var keychain: KeychainStore
    private var tree: KeychainFileSystem
    private var processes: [Int: StepRunner] = [:]
    private var lastProcessID: Int32 = 0

    init() throws {
        folder = Self.scratch.appendingPathComponent("keychainfs-model-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        disk = FailingDisk(folder.path)
        let path = folder.appendingPathComponent("0").path
        let store = try SQLiteRecordStore.create(at: path) { store throws(KeychainFault) in
            try KeyRing.create(
                in: store, passphrase: try Self.secret("correct horse"), cost: .cheap,
                device: try Self.secret(Self.device))
            return store
        }
        (keychain, tree) = try Self.open(store, host, clock)
    }

    deinit {
        keychain.close()
        try? FileManager.default.removeItem(at: folder)
    }

    /// In memory, where there is such a place: that commits are durable is proven elsewhere.
    private static let scratch: URL = {
        let memory = URL(fileURLWithPath: "/dev/shm")
        return FileManager.default.isWritableFile(atPath: memory.path)
            ? memory : FileManager.default.temporaryDirectory
    }()

    private static let device = String(repeating: "d", count: 32)

    private static func secret(_ text: String) throws(KeychainFault) -> SecretBytes {
        do throws(CryptoError) { return try SecretBytes(text: text) } catch { throw KeychainFault(error) }
    }

    private static func open(
        _ store: SQLiteRecordStore, _ host: ModelHost, _ clock: ModelClock, isUnlocked: Bool = true
    ) throws -> (KeychainStore, KeychainFileSystem) {
        let keys = try KeyRing(store: store, device: try secret(device))
        if isUnlocked { try keys.unlock(passphrase: try secret("correct horse")) }
        let keychain = KeychainStore(store: store, keys: keys) { clock.now() }
        keychain.comparesCache.store(true, ordering: .relaxed)
        var options = TreeOptions(userID: 0, groupID: 0)
        options.valueLimit = valueLimit
        let requests = RPCRequestHandler(keychain, valueLimit: valueLimit, host: host)
        let tree = KeychainFileSystem(
            keychain: keychain, options: options, host: host, commands: NoCommands(), requests: requests)
        return (keychain, tree)
    }

    private func path(_ generation: Int) -> String { folder.appendingPathComponent("\(generation)").path }

    func now(avoiding times: [Double]) -> Double { Double(host.clock.withLock { $0 }.components.seconds) }

    // MARK: Steps

    func perform(_ operation: Step) throws -> Outcome {
        switch operation.action {
        case .spawn(let slot, let fill): return spawn(of: operation.process, slot, fill)
        case .exit: end(operation.process, dying: false)
        case .die: end(operation.process, dying: true)
        case .lock: _ = tree.lock()
        case .unlock: try disk.paused { try tree.unlock(passphrase: Self.secret("correct horse")) }
        case .remount: try remount(isUnlocked: true)
        case .remountLocked: try remount(isUnlocked: false)
        case .failDisk(let isFailing): disk.fail(isFailing)
        case .fillDisk(let isFull): host.isFull.store(isFull, ordering: .relaxed)
        case .kill: try kill()
        case .wait: host.clock.withLock { $0 += .seconds(11) }
        default:
            var performer = process(operation.process)
            let outcome = performer.perform(operation.action)
            processes[operation.process] = performer
            return outcome
        }
        return .done
    }

    private func newProcessID() -> Int32 {
        lastProcessID += 1
        return lastProcessID
    }

    private func process(_ number: Int) -> StepRunner {
        if let performer = processes[number] { return performer }
        let caller = Caller(userID: 0, groupID: 0, processID: newProcessID())
        let performer = StepRunner(PathClient(tree, caller: caller))
        processes[number] = performer
        return performer
    }

    private func spawn(of number: Int, _ slot: Int?, _ fill: BytePattern) -> Outcome {
        let parent = process(number)
        guard let client = parent.client as? PathClient else { return .failed(Errno.notSupported.rawValue) }
        let child = client.fork(processID: newProcessID())
        defer { child.exit() }
        guard let slot else { return .done }
        do throws(Errno) {
            try child.pwrite(try parent.descriptor(slot), fill.bytes, at: 0)
            return .done
        } catch {
            return .failed(error.rawValue)
        }
    }

    private func end(_ number: Int, dying: Bool) {
        guard let client = processes.removeValue(forKey: number)?.client as? PathClient else { return }
        if dying { host.dying.withLock { _ = $0.insert(client.caller.processID) } }
        client.exit()
    }

    private func remount(isUnlocked: Bool) throws {
        for number in processes.keys.sorted() { end(number, dying: false) }
        if tree.memory.used != 0 { throw LeftCharge(bytes: tree.memory.used) }
        tree.destroy()
        disk.fail(false)
        keychain.close()
        try openAgain(isUnlocked: isUnlocked)
    }

    /// Continues with the files that a killed daemon would leave on the disk.
    private func kill() throws {
        processes = [:]
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: path(generation) + suffix, toPath: path(generation + 1) + suffix)
        }
        disk.fail(false)
        keychain.close()
        generation += 1
        try openAgain(isUnlocked: true)
    }

    private func openAgain(isUnlocked: Bool) throws {
        let store = try SQLiteRecordStore.open(path: path(generation))
        (keychain, tree) = try Self.open(store, host, clock, isUnlocked: isUnlocked)
    }

    func finish() throws -> String? {
        try remount(isUnlocked: true)
        return try keychain.check().isConsistent ? nil : "the check at the end found a fault in the store"
    }
}

/// No descriptor is open, and memory is still charged.
private struct LeftCharge: Error {
    let bytes: Int
}

/// A system whose callers do as a program says.
private final class ModelHost: TreeHost {
    let dying = Mutex<Set<Int32>>([])
    let clock = Mutex<Duration>(.seconds(1000))
    let isFull = Atomic<Bool>(false)

    func isDyingOfSignal(_ processID: Int32) -> Bool { dying.withLock { $0.contains(processID) } }

    func process(ofThread threadID: Int32) -> ProcessIdentity? { ProcessIdentity(group: threadID, startTime: 1) }

    var uptime: Duration { clock.withLock { $0 } }

    func statistics() throws(Errno) -> FileSystemStatistics {
        // Little enough free space that it is checked each time.
        let free: UInt64 = isFull.load(ordering: .relaxed) ? 0 : 1 << 16
        return FileSystemStatistics(
            blockSize: 4096, blocks: 1 << 30, freeBlocks: free, availableBlocks: free, files: 0, freeFiles: 0,
            maximumNameLength: 255)
    }

    func trimMemory() {}
}

/// A clock that advances by a second each time it is read.
private final class ModelClock: Sendable {
    private let seconds = Atomic<Int64>(1_700_000_000)

    func now() -> KeychainDate { KeychainDate(seconds: seconds.add(1, ordering: .relaxed).newValue) }
}

private struct NoCommands: ControlCommandHandler {
    func status(of tree: KeychainFileSystem) -> [UInt8] { [] }

    func run(_ command: RawSpan, on tree: KeychainFileSystem, request: inout Request) throws(KeychainFault) -> [UInt8] {
        throw .param
    }
}
