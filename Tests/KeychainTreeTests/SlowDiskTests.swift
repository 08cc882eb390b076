import FileSystemCore
import FileSystemTesting
import Keychain
import KeychainTesting
import Synchronization
import SystemPackage
import Testing

@testable import KeychainTree

/// A point at which a thread blocks until the test lets it continue: a disk that is slow.
private final class Block: Sendable {
    private let entered = TestSemaphore()
    private let released = TestSemaphore()

    func enter() {
        entered.signal()
        released.wait()
    }

    /// Whether a thread has arrived.
    func hasEntered() -> Bool { entered.wait(seconds: 10) }

    func release() { released.signal() }
}

/// Saves no commit number once it is armed, and does not return.
private final class BlockedKeeper: CommitNumberKeeper {
    let block = Block()
    let isArmed = Atomic(false)

    func kept(for store: [UInt8]) -> [UInt8]? { nil }

    func keep(_ record: [UInt8], for store: [UInt8]) throws(KeychainError) {
        if isArmed.load(ordering: .acquiring) { block.enter() }
    }
}

/// What must not wait while the disk is slow.
@Suite struct SlowDiskTests: OneService {
    private let keeper = BlockedKeeper()
    private let fixture: TreeFixture
    private let client: TreeProcess

    init() throws {
        fixture = try TreeFixture(keeper: keeper)
        client = TreeProcess(fixture, 1)
        try client.mkdir(dir)
        for name in ["a", "b", "c"] { try client.put(path(name), "old") }
    }

    @Test("L2: a lock is complete although the commit number cannot be saved")
    func blockedKeeper() throws {
        let file = try client.open(path("b"), [.readWrite])
        try client.write(file, "staged")
        keeper.isArmed.store(true, ordering: .releasing)
        let tree = fixture.tree
        let locker = TestThread.started { _ = tree.lock() }
        #expect(locker.join(seconds: 10))
        #expect(throws: Errno.noKey) { try client.read(file) }
        #expect(throws: Errno.noKey) { try client.cat(path("c")) }
        #expect(throws: Errno.noKey) { try client.close(file) }
        // The daemon saves the number afterwards.
        let keys = fixture.keychain.keys
        let saver = TestThread.started { try? keys.keepCommitNumber() }
        #expect(keeper.block.hasEntered())
        #expect(keys.isCommitNumberKept, "status does not wait for the disk")
        keeper.block.release()
        #expect(saver.join(seconds: 10))
    }

    @Test("L2, H1: staged values and freed names are wiped although another item is being committed")
    func blockedCommit() throws {
        let file = try client.open(path("b"), [.readWrite])
        try client.write(file, "staged")
        try client.unlink(path("c"))
        let (fixture, path) = (fixture, path("a"))
        let block = Block()
        fixture.store.beforeNextCommit { block.enter() }
        let writer = TestThread.started { try? TreeProcess(fixture, 2).put(path, "new") }
        #expect(block.hasEntered())
        let locker = TestThread.started { _ = fixture.tree.lock() }
        #expect(eventually { fixture.tree.freedNames.withLock { $0.count } == 0 })
        #expect(throws: Errno.noKey) { try client.read(file) }
        block.release()
        #expect(writer.join(seconds: 10) && locker.join(seconds: 10))
        #expect(throws: Errno.noKey) { try client.close(file) }
    }
}
