import FileSystemCore
import FileSystemTesting
import Keychain
import KeychainTesting
import Synchronization
import SystemPackage
import Testing

@testable import KeychainTree

/// Saves no commit number once it is armed, and does not return.
private final class BlockedCommitNumberStore: CommitNumberStore {
    let block = Block()
    let isArmed = Atomic(false)
    private let record = Mutex<[UInt8]?>(nil)

    func load(for store: [UInt8]) -> [UInt8]? { record.withLock { $0 } }

    func save(_ record: [UInt8], for store: [UInt8]) throws(KeychainFault) {
        if isArmed.load(ordering: .acquiring) { block.enter() }
        self.record.withLock { $0 = record }
    }
}

/// The operations that must not wait for a slow disk.
@Suite struct SlowDiskTests: SingleServiceSuite {
    private let commitNumberStore = BlockedCommitNumberStore()
    private let fixture: TreeFixture
    private let client: TreeProcess

    init() throws {
        fixture = try TreeFixture(commitNumberStore: commitNumberStore)
        client = TreeProcess(fixture, 1)
        try client.mkdir(dir)
        for name in ["a", "b", "c"] { try client.put(path(name), "old") }
    }

    /// Writes `x` and synchronizes on another thread, which blocks in the commit.
    private func blockedCommit(of file: TreeProcess.Descriptor) throws -> (Block, TestThread) {
        try client.write(file, "x")
        let (block, fixture) = (Block(), fixture)
        fixture.store.beforeNextCommit { block.enter() }
        let committer = TestThread.started { try? TreeProcess(fixture, 1).fsync(file) }
        #expect(block.hasEntered())
        return (block, committer)
    }

    @Test("L2: a lock is complete although the commit number cannot be saved")
    func blockedStore() throws {
        let file = try client.open(path("b"), [.readWrite])
        try client.write(file, "staged")
        commitNumberStore.isArmed.store(true, ordering: .releasing)
        let tree = fixture.tree
        let locker = TestThread.started { _ = tree.lock() }
        #expect(locker.join(seconds: 10))
        #expect(throws: Errno.noKey) { try client.read(file) }
        #expect(throws: Errno.noKey) { try client.cat(path("c")) }
        #expect(throws: Errno.noKey) { try client.close(file) }
        // The daemon saves the number afterwards.
        let keys = fixture.keychain.keys
        let saver = TestThread.started { try? keys.keepCommitNumber() }
        #expect(commitNumberStore.block.hasEntered())
        #expect(keys.stateFault == nil, "status does not wait for the disk")
        commitNumberStore.block.release()
        #expect(saver.join(seconds: 10))
    }

    @Test("L2, S2: a lock is complete although the disk of the store does not respond to the mark at its end")
    func blockedMark() throws {
        for name in ["a", "b"] { try client.put(path(name), "changed") }
        let (block, fixture) = (Block(), fixture)
        let commit = try fixture.keychain.keys.commitNumber()
        fixture.store.beforeNextCommit { block.enter() }
        let locker = TestThread.started {
            _ = fixture.tree.lock()
            try? fixture.keychain.keys.keepCommitNumber()
        }
        #expect(block.hasEntered())
        #expect(fixture.keychain.keys.state == .locked)
        #expect(throws: Errno.noKey) { try client.cat(path("c")) }
        #expect(fixture.keychain.keys.stateFault == nil, "status does not wait for the disk")
        block.release()
        #expect(locker.join(seconds: 10))
        #expect(try fixture.keychain.keys.commitNumber() == commit + 1)
    }

    @Test("L4: a WRITE that waits for the commit of its item has released its message, and loses nothing")
    func waitingWrite() throws {
        let (first, second) = (try client.open(path("a"), [.readWrite]), try client.open(path("a"), [.writeOnly]))
        let (block, committer) = try blockedCommit(of: first)
        let fixture = fixture
        let bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 % 251) }
        let releases = MutexBox(0)
        let writer = TestThread.started {
            try? TreeProcess(fixture, 2, releases: releases).write(second, bytes: bytes, at: 2)
        }
        #expect(eventually { releases.withLock { $0 } == 1 })
        #expect(!writer.join(seconds: 0.05))
        block.release()
        #expect(committer.join(seconds: 10) && writer.join(seconds: 10))
        #expect(try client.read(first) == Array("xl".utf8) + bytes)
        try client.close(first)
        try client.close(second)
    }

    @Test("L4: a durable WRITE and a SETXATTR release their messages before they commit; so does an open of status")
    func released() throws {
        let file = try client.open(path("a"), [.writeOnly])
        let releases = client.releases
        releases.withLock { $0 = 0 }
        let atCommit = MutexBox<[Int]>([])
        func noteAtCommit() {
            fixture.store.beforeNextCommit { atCommit.withLock { $0.append(releases.withLock { $0 }) } }
        }
        noteAtCommit()
        try client.write(file, bytes: [UInt8](repeating: 1, count: 8192), flags: [.writeOnly, .dsync])
        noteAtCommit()
        try client.setxattr(path("a"), "kSecAttrLabel", "L")
        #expect(atCommit.withLock { $0 } == [1, 2])
        client.blockingCalls.withLock { $0 = 0 }
        try client.close(client.open(".keychainfs/status"))
        #expect(releases.withLock { $0 } == 3 && client.blockingCalls.withLock { $0 } == 1)
        try client.close(file)
    }

    @Test("F1: a WRITE that waits and cannot be staged abandons the value, and close repeats its error")
    func refusedWaitingWrite() throws {
        let file = try client.open(path("a"), [.writeOnly])
        // Not the limit of the whole message: a part of it would be staged.
        #expect(throws: Errno.fileTooLarge) {
            try client.write(file, bytes: [UInt8](repeating: 1, count: 40_000), at: (1 << 20) - 20_000)
        }
        #expect(throws: Errno.fileTooLarge) { try client.close(file) }
        #expect(try client.cat(path("a")) == "old")
    }

    @Test("L2, L4: a lock makes the data of a WRITE that waits unreadable with the value that it is for")
    func lockDuringWaitingWrite() throws {
        let (first, second) = (try client.open(path("a"), [.readWrite]), try client.open(path("a"), [.writeOnly]))
        let (block, committer) = try blockedCommit(of: first)
        let fixture = fixture
        let (releases, error) = (MutexBox(0), MutexBox<Errno?>(nil))
        let writer = TestThread.started {
            do throws(Errno) {
                try TreeProcess(fixture, 2, releases: releases).write(second, bytes: [UInt8](repeating: 1, count: 8192))
            } catch let found {
                error.withLock { $0 = found }
            }
        }
        #expect(eventually { releases.withLock { $0 } == 1 })
        let locker = TestThread.started { _ = fixture.tree.lock() }
        #expect(eventually { fixture.keychain.keys.state == .locked })
        block.release()
        #expect(committer.join(seconds: 10) && writer.join(seconds: 10) && locker.join(seconds: 10))
        #expect(error.withLock { $0 } == .noKey)
        try? client.close(first)
        try? client.close(second)
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
