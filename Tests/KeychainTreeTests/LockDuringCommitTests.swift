import FileSystemCore
import FileSystemTesting
import Keychain
import KeychainTesting
import Synchronization
import SystemPackage
import Testing

@testable import KeychainTree

/// A lock while the disk does not respond: it is complete without waiting, and also for the item that is being written.
@Suite struct LockDuringCommitTests: SingleServiceSuite {
    private let fixture: TreeFixture
    private let client: TreeProcess

    init() throws {
        fixture = try TreeFixture()
        client = TreeProcess(fixture, 1)
        try client.mkdir(dir)
        for name in ["a", "b"] { try client.put(path(name), "old") }
    }

    /// A request on another thread that waits for a disk.
    private struct Blocked {
        let block: Block
        let thread: WaitingThread

        func end() {
            block.release()
            #expect(thread.ends())
        }
    }

    private func blocked(_ body: @escaping @Sendable (TreeProcess) throws -> Void) -> Blocked {
        let (block, fixture) = (Block(), fixture)
        fixture.store.beforeNextCommit { block.enter() }
        let thread = WaitingThread { try? body(TreeProcess(fixture, 1)) }
        #expect(block.hasEntered())
        return Blocked(block: block, thread: thread)
    }

    /// Locks on another thread, which must not wait. Returns the notifications.
    private func lock() throws -> [FileSystemCore.Notification] {
        let (tree, notifications) = (fixture.tree, MutexBox<[FileSystemCore.Notification]?>(nil))
        let locker = TestThread.started {
            let sent = tree.lock()
            notifications.withLock { $0 = sent }
        }
        #expect(locker.join(seconds: 10), "the lock waits")
        return try #require(notifications.withLock { $0 })
    }

    /// Returns the notifications that a list sends later, after waiting for the last ones.
    @discardableResult
    private static func finish(_ notifications: [FileSystemCore.Notification]) throws -> [FileSystemCore.Notification] {
        let later = notifications.suffix(2).compactMap { if case .later(let body) = $0 { body } else { nil } }
        #expect(later.count == 2)
        return later.flatMap { $0() }
    }

    private func unlock() -> WaitingThread {
        let tree = fixture.tree
        let thread = WaitingThread { try? tree.unlock(passphrase: TreeFixture.secret()) }
        #expect(eventually { fixture.keychain.keys.state == .unlocked })
        return thread
    }

    private static func pages(_ notifications: [FileSystemCore.Notification]) -> [NodeSet] {
        notifications.compactMap { if case .inodes(let nodes, true) = $0 { nodes } else { nil } }
    }

    @Test("L2: a lock does not wait for a commit in progress; its file is closed immediately, and locked afterwards")
    func commit() throws {
        let reader = try client.open(path("a"))
        let (writer, other) = (try client.open(path("a"), [.readWrite]), try client.open(path("a"), [.writeOnly]))
        try client.write(writer, "new")
        let commit = blocked { try $0.fsync(writer) }
        let notifications = try lock()
        #expect(throws: Errno.noKey) { try client.read(reader) }
        #expect(!commit.thread.ends(seconds: 0))
        // The kernel may hold a page of the file until a read of it ends, which waits for the commit.
        #expect(Self.pages(notifications).allSatisfy { !$0.contains(reader.node) })
        commit.end()
        let late = try Self.finish(notifications)
        #expect(Self.pages(late).filter { $0.contains(reader.node) }.count == 2, "before the wait and after it")
        guard case .allEntries(let names)? = late.dropFirst().first else { Issue.record("its name is kept"); return }
        #expect(names().map { String(decoding: $0.name.bytes, as: UTF8.self) } == ["a"])
        let file = try fixture.tree.itemFile(reader.node)
        #expect(fixture.tree.withState(of: file) { $0.item == nil && $0.stagedValue == nil && $0.openValue == nil })
        for operation in [
            { _ = try client.stat(path("a")) }, { _ = try client.fstat(writer) }, { try client.write(other, "x") },
            { _ = try client.read(writer) },
        ] as [() throws -> Void] {
            #expect(throws: Errno.noKey) { try operation() }
        }
        try fixture.tree.unlock(passphrase: TreeFixture.secret())
        // Acknowledged, or about to be, so it must not be lost.
        #expect(try client.cat(path("a")) == "new")
        #expect(throws: Errno.noKey) { try client.read(reader) }
        #expect(try client.read(writer) == Array("new".utf8))
    }

    /// Requests that wait for the item when the keychain is locked.
    private static let waitingRequests: [@Sendable (TreeProcess, String, NodeID) throws -> Void] = [
        { client, path, _ in _ = try client.stat(path) },
        { client, path, _ in _ = try client.getxattr(path, "kSecAttrLabel") },
        { client, _, node in _ = try client.open(node, []) },
        { client, _, node in _ = try client.open(node, [.readWrite]) },
        { client, path, _ in try client.unlink(path) },
        { client, path, _ in try client.rename(path, path + "-renamed") },
    ]

    @Test("L1, L2: a request that waited for the item before the lock fails", arguments: waitingRequests.indices)
    func waiting(_ number: Int) throws {
        try client.setxattr(path("a"), "kSecAttrLabel", "L")
        let writer = try client.open(path("a"), [.readWrite])
        try client.write(writer, "new")
        let commit = blocked { try $0.fsync(writer) }
        let (fixture, path, error) = (fixture, path("a"), MutexBox<Errno?>(nil))
        let request = WaitingThread {
            do {
                try Self.waitingRequests[number](TreeProcess(fixture, 2), path, writer.node)
            } catch let found {
                error.withLock { $0 = found as? Errno }
            }
        }
        #expect(request.waits())
        _ = try lock()
        commit.end()
        #expect(request.ends())
        #expect(error.withLock { $0 } == .noKey)
        try fixture.tree.unlock(passphrase: TreeFixture.secret())
        #expect(try client.cat(path) == "new")
    }

    @Test("L2: an unlock during the same commit brings nothing back that the lock has taken")
    func unlockedMeanwhile() throws {
        let (reader, writer) = (try client.open(path("a")), try client.open(path("a"), [.readWrite]))
        try client.write(writer, "new")
        let commit = blocked { try $0.fsync(writer) }
        let (fixture, path, error, size) = (fixture, path("a"), MutexBox<Errno?>(nil), MutexBox<UInt64?>(nil))
        // Staged for the next commit, under a key that the lock wipes.
        let write = WaitingThread {
            do throws(Errno) {
                try TreeProcess(fixture, 2).write(writer, bytes: [UInt8](repeating: 1, count: 8192))
            } catch let found {
                error.withLock { $0 = found }
            }
        }
        #expect(write.waits())
        let stat = WaitingThread {
            let found = try? TreeProcess(fixture, 3).stat(path).size
            size.withLock { $0 = found }
        }
        #expect(stat.waits())
        let notifications = try lock()
        let unlock = unlock()
        commit.end()
        #expect(write.ends() && stat.ends() && unlock.ends())
        try Self.finish(notifications)
        #expect(error.withLock { $0 } == .noKey)
        #expect(size.withLock { $0 } == 3)
        #expect(throws: Errno.noKey) { try client.read(reader) }
        #expect(try client.cat(path) == "new")
    }

    @Test(
        "L2: data that the lock has made unreadable is discarded, although an unlock came before the file was reached")
    func stagedMeanwhile() throws {
        let writer = try client.open(path("a"), [.readWrite])
        try client.write(writer, "a longer value")
        let change = blocked { [path = path("a")] in try $0.setxattr(path, "kSecAttrLabel", "L") }
        let notifications = try lock()
        let unlock = unlock()
        change.end()
        #expect(unlock.ends())
        try Self.finish(notifications)
        #expect(try client.stat(path("a")).size == 3)
        #expect(throws: Errno.noKey) { try client.write(writer, "x") }
        #expect(throws: Errno.noKey) { try client.close(writer) }
        #expect(try client.cat(path("a")) == "old")
    }

    @Test("L2, L3: a descriptor with a value of a former class is refused during the commit, and after an unlock")
    func formerClass() throws {
        try client.setxattr(path("a"), "kSecAttrAccessible", "Always")
        let reader = try client.open(path("a"))
        try client.setxattr(path("a"), "kSecAttrAccessible", "WhenUnlocked")
        let writer = try client.open(path("a"), [.readWrite])
        try client.write(writer, "new")
        let commit = blocked { try $0.fsync(writer) }
        let notifications = try lock()
        #expect(throws: Errno.noKey) { try client.read(reader) }
        let unlock = unlock()
        #expect(throws: Errno.noKey) { try client.read(reader) }
        commit.end()
        #expect(unlock.ends())
        try Self.finish(notifications)
        #expect(throws: Errno.noKey) { try client.read(reader) }
        #expect(try client.cat(path("a")) == "new")
    }

    @Test(
        "L2: descriptors of WhenUnlockedUnlessOpen and AfterFirstUnlock items stay usable during and after the commit")
    func usable() throws {
        for (name, protection) in [("a", "WhenUnlockedUnlessOpen"), ("b", "AfterFirstUnlock")] {
            try client.setxattr(path(name), "kSecAttrAccessible", protection)
            let (reader, writer) = (try client.open(path(name)), try client.open(path(name), [.readWrite]))
            try client.write(writer, "new")
            let commit = blocked { try $0.fsync(writer) }
            let notifications = try lock()
            #expect(try client.read(reader) == Array("old".utf8))
            commit.end()
            try Self.finish(notifications)
            #expect(try client.read(reader) == Array("old".utf8))
            #expect(try client.read(writer) == Array("new".utf8))
            try client.write(writer, "more")
            try client.close(writer)
            try client.close(reader)
            try fixture.tree.unlock(passphrase: TreeFixture.secret())
            #expect(try client.cat(path(name)) == "more")
        }
    }

    @Test("L2, L3: a class that is being changed when the keychain is locked counts when the change is complete")
    func changingClass() throws {
        try client.setxattr(path("a"), "kSecAttrAccessible", "Always")
        let reader = try client.open(path("a"))
        let (path, commit) = (
            path("a"),
            blocked { [path = path("a")] in
                try $0.setxattr(path, "kSecAttrAccessible", "WhenUnlocked")
            }
        )
        let notifications = try lock()
        #expect(try client.read(reader) == Array("old".utf8), "the change is not complete")
        commit.end()
        try Self.finish(notifications)
        #expect(throws: Errno.noKey) { try client.read(reader) }
        #expect(throws: Errno.noKey) { try client.stat(path) }
    }

    @Test("F2, L2: the first commit of a name that the lock interrupts is complete or has not happened")
    func creation() throws {
        let (writer, path) = (try client.open(path("new"), [.writeOnly, .create]), path("new"))
        try client.write(writer, "value")
        let commit = blocked { try $0.fsync(writer) }
        let notifications = try lock()
        commit.end()
        try Self.finish(notifications)
        #expect(throws: Errno.noKey) { try client.stat(path) }
        // Committed before the lock was applied: nothing was lost.
        try client.flush(writer)
        client.release(writer)
        try fixture.tree.unlock(passphrase: TreeFixture.secret())
        #expect(try client.cat(path) == "value")
    }

    @Test("L2: a descriptor whose open reads from a slow disk during the lock is closed")
    func open() throws {
        let block = Block()
        let (fixture, path, handle) = (fixture, path("a"), MutexBox<TreeProcess.Descriptor?>(nil))
        let node = try client.entry(path).node
        // Empties the cache of values.
        _ = try lock()
        try fixture.tree.unlock(passphrase: TreeFixture.secret())
        fixture.store.beforeNextRead { block.enter() }
        let open = WaitingThread {
            let opened = try? TreeProcess(fixture, 2).open(node, [])
            handle.withLock { $0 = opened }
        }
        #expect(block.hasEntered())
        let notifications = try lock()
        block.release()
        #expect(open.ends())
        try Self.finish(notifications)
        if let opened = handle.withLock({ $0 }) { #expect(throws: Errno.noKey) { try client.read(opened) } }
    }

    @Test("L2: several locks during one commit let one thread wait for it")
    func repeated() throws {
        let writer = try client.open(path("a"), [.readWrite])
        try client.write(writer, "new")
        let commit = blocked { try $0.fsync(writer) }
        let (first, second) = (try lock(), try lock())
        let waiting = WaitingThread { _ = try? Self.finish(first) }
        #expect(waiting.waits())
        let done = WaitingThread { _ = try? Self.finish(second) }
        #expect(done.ends(), "the second lock waits for the commit, too")
        // A notification of pages may wait in the kernel.
        #expect(Self.pages(try Self.finish(second)).allSatisfy { !$0.contains(writer.node) })
        commit.end()
        #expect(waiting.ends())
        #expect(throws: Errno.noKey) { try client.fstat(writer) }
    }

    @Test("H2: an unused file that has missed a lock keeps its object until the lock is applied")
    func idle() throws {
        let entry = try client.entry(path("a"))
        let writer = try client.open(path("a"), [.readWrite])
        try client.write(writer, "new")
        let commit = blocked { try $0.fsync(writer) }
        let notifications = try lock()
        let file = try fixture.tree.itemFile(entry.node)
        #expect(file.idleDirectory == nil)
        commit.end()
        try Self.finish(notifications)
        client.release(writer)
        #expect(file.idleDirectory != nil)
    }
}
