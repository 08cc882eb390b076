import CFuse3
import FileSystemCore
import FileSystemTesting
import Glibc
import SystemPackage
import Testing

@testable import Fuse

/// Concurrent requests: the receiver role, its transfer, and requests that block.
@Suite struct ConcurrencyTests {
    let fileSystem = MemoryFileSystem()

    /// Starts a read of `/a` on a separate thread, and returns when it is in the handler.
    private func reader(_ client: PathClient, _ entered: TestSemaphore) -> TestThread {
        let thread = TestThread.started {
            guard let file = try? client.open("/a", []) else { return }
            _ = try? client.pread(file, 10, at: 0)
            try? client.close(file)
        }
        entered.wait()
        return thread
    }

    @Test("L4: any number of waiting requests leaves other requests unaffected", arguments: [1, 2, 4])
    func requestsThatWaitDoNotHoldUpOthers(_ workers: Int) throws {
        let session = try WireSession(fileSystem, workers: workers)
        defer { session.stop() }
        let client = PathClient(session.wire)
        try client.put("/a", "x")
        let entered = TestSemaphore()
        let resume = TestSemaphore()
        fileSystem.script.withLock {
            $0.onRead = { _ in
                entered.signal()
                resume.wait()
                return true
            }
        }
        let readers = (0..<workers).map { _ in reader(client, entered) }
        #expect(try client.stat("/a").size == 1)
        // One more waits in the queue, and is served when another one is done.
        let last = TestThread.started {
            let own = client.fork()
            guard let file = try? own.open("/a", []) else { return }
            _ = try? own.pread(file, 10, at: 0)
            try? own.close(file)
        }
        #expect(!entered.wait(seconds: 0.1))
        #expect(try client.list("/") == ["a"])
        resume.signal()
        #expect(entered.wait(seconds: 10))
        for _ in 0..<workers { resume.signal() }
        for thread in readers + [last] { #expect(thread.join(seconds: 10)) }
    }

    @Test("L4: 200 FLUSHes and 8 long WRITEs that wait take neither the threads nor the buffers of others")
    func flushesAndLongWrites() throws {
        let session = try WireSession(fileSystem, workers: 48, servesAtOnce: true)
        defer { session.stop() }
        let client = PathClient(session.wire, maximumWrite: 65_536)
        for path in ["/a", "/b"] { try client.put(path, "x") }
        let (flushes, writes, resume) = (TestSemaphore(), TestSemaphore(), TestSemaphore())
        fileSystem.script.withLock {
            $0.onFlush = { _ in
                flushes.signal()
                resume.wait()
            }
            $0.onWrite = { request in
                request.willBlock()
                request.releaseMessage()
                writes.signal()
                resume.wait()
                return false
            }
        }
        let writers = (0..<8).map { _ in
            TestThread.started { try? client.fork().put("/b", [UInt8](repeating: 1, count: 8192)) }
        }
        for _ in writers { #expect(writes.wait(seconds: 10)) }
        let closers = (0..<200).map { _ in
            TestThread.started {
                let own = client.fork()
                if let file = try? own.open("/a", []) { try? own.close(file) }
            }
        }
        for _ in 0..<48 { #expect(flushes.wait(seconds: 10)) }
        #expect(!flushes.wait(seconds: 0.1), "more threads wait than may")
        fileSystem.script.withLock { $0.onFlush = nil }
        #expect(try client.stat("/a").size == 1)
        // READs of another caller, without a close that would wait with the others.
        let name = try #require(EntryName("a"))
        let reads = TestThread.started {
            var request = Request(caller: client.caller)
            guard case .found(let entry)? = try? session.wire.lookup(&request, parent: .root, name: name),
                let file = try? session.wire.open(&request, node: entry.node, flags: [])
            else { return }
            for _ in 0..<100 {
                try? session.wire.read(
                    &request, node: entry.node, handle: file.handle, offset: 0, size: 10, owner: nil
                ) { _, _ in }
            }
        }
        #expect(reads.join(seconds: 10))
        #expect(fileSystem.state.withLock { $0.calls.count { $0.hasPrefix("read") } } == 100)
        for _ in 0..<208 { resume.signal() }
        for thread in writers + closers { #expect(thread.join(seconds: 30)) }
        #expect(session.wire.connection.unexpectedReplies == 0)
    }

    @Test("L4: 300 GETXATTRs that wait for another request leave threads and buffers to others")
    func waitingAnnouncements() throws {
        let session = try WireSession(fileSystem, workers: 2, servesAtOnce: true)
        defer { session.stop() }
        let client = PathClient(session.wire)
        try client.put("/a", "x")
        let (announced, resume) = (TestSemaphore(), TestSemaphore())
        fileSystem.script.withLock {
            $0.onXattr = {
                RequestWait.announce()
                announced.signal()
                resume.wait()
            }
        }
        let waiting = (0..<300).map { _ in
            TestThread.started { _ = try? client.fork().getxattr("/a", "user.x") }
        }
        for _ in waiting { #expect(announced.wait(seconds: 30)) }
        let others = TestThread.started { for _ in 0..<100 { _ = try? client.fork().text("/a") } }
        #expect(others.join(seconds: 10))
        for _ in waiting { resume.signal() }
        for thread in waiting { #expect(thread.join(seconds: 30)) }
        #expect(session.wire.connection.unexpectedReplies == 0)
        #expect(eventually { fileSystem.openFiles == 0 })
    }

    @Test("L4: any number of name changes may wait: more than small buffers are kept")
    func nameChanges() throws {
        let session = try WireSession(fileSystem, workers: 8)
        defer { session.stop() }
        let client = PathClient(session.wire)
        try client.put("/a", "x")
        let resume = TestSemaphore()
        fileSystem.script.withLock { $0.onMakeDirectory = { resume.wait() } }
        let count = ReceiveLoop.keptSmallBuffers + 50
        let makers = (0..<count).map { number in
            TestThread.started { try? client.fork().mkdir("/d\(number)", mode: 0o700) }
        }
        #expect(eventually(seconds: 30) { session.wire.connection.outstanding.count == count })
        let other = TestThread.started { _ = try? client.stat("/a") }
        #expect(other.join(seconds: 10))
        for _ in makers { resume.signal() }
        for thread in makers { #expect(thread.join(seconds: 30)) }
        #expect(try client.list("/").count == count + 1)
        #expect(session.session.buffersAreLocked)
    }

    @Test("L4: a request that is interrupted while it waits in the queue is served as interrupted")
    func interruptedInQueue() throws {
        let session = try WireSession(fileSystem, workers: 1)
        defer { session.stop() }
        let client = PathClient(session.wire)
        try client.put("/a", "x")
        let (entered, resume) = (TestSemaphore(), TestSemaphore())
        let found = MutexBox<[Bool]>([])
        fileSystem.script.withLock {
            $0.onFlush = { request in
                entered.signal()
                resume.wait()
                let isInterrupted = request.isInterrupted
                found.withLock { $0.append(isInterrupted) }
            }
        }
        let files = [try client.open("/a", []), try client.open("/a", [])]
        let closers = files.map { file in TestThread.started { try? client.close(file) } }
        #expect(entered.wait(seconds: 10))
        #expect(eventually { session.wire.connection.outstanding.count == 2 })
        session.wire.interruptAll()
        // The receiver refuses this one, which it gets after them; another request would make libfuse withdraw an interrupt that has
        // found no request, as EAGAIN, whereupon the kernel repeats it.
        #expect(session.wire.connection.call(WireRequest(FUSE_GETATTR)).error == EIO)
        for _ in closers { resume.signal() }
        for thread in closers { #expect(thread.join(seconds: 10)) }
        #expect(found.withLock { $0 } == [true, true])
    }

    @Test("F4: more requests than there are large buffers can wait concurrently, and others are served")
    func manyThatWait() throws {
        let session = try WireSession(fileSystem, workers: 40)
        defer { session.stop() }
        let client = PathClient(session.wire)
        try client.put("/a", "x")
        let entered = TestSemaphore()
        let resume = TestSemaphore()
        fileSystem.script.withLock {
            $0.onRead = { _ in
                entered.signal()
                resume.wait()
                return true
            }
        }
        let readers = (0..<35).map { _ in reader(client, entered) }
        #expect(try client.stat("/a").size == 1)
        #expect(try client.list("/") == ["a"])
        for _ in readers { resume.signal() }
        for thread in readers { #expect(thread.join(seconds: 10)) }
        #expect(eventually { fileSystem.openFiles == 0 })
    }

    @Test("with receiverServesIO, a READ that calls willBlock does not delay another READ")
    func readsThatBlock() throws {
        let session = try WireSession(fileSystem, workers: 2, servesAtOnce: true)
        defer { session.stop() }
        let client = PathClient(session.wire)
        try client.put("/a", "x")
        let entered = TestSemaphore()
        let resume = TestSemaphore()
        let isFirst = MutexBox(true)
        fileSystem.script.withLock {
            $0.onRead = { request in
                let waits = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                guard waits else { return true }
                // Twice is once.
                request.willBlock()
                request.willBlock()
                entered.signal()
                resume.wait()
                return true
            }
        }
        let first = reader(client, entered)
        let others = TestThread.started {
            for _ in 0..<100 { _ = try? client.fork().text("/a") }
        }
        #expect(others.join(seconds: 10))
        resume.signal()
        #expect(first.join(seconds: 10))
        #expect(try client.text("/a") == "x")
    }

    @Test func manyConcurrently() throws {
        let session = try WireSession(fileSystem)
        defer { session.stop() }
        let client = PathClient(session.wire)
        let failures = MutexBox(0)
        let threads = (0..<8).map { index in
            TestThread.started {
                let own = client.fork()
                for round in 0..<150 {
                    let text = "\(index) \(round)"
                    do {
                        try own.put("/\(index)", text)
                        guard try own.text("/\(index)") == text else { throw Errno.ioError }
                        _ = try own.list("/")
                    } catch {
                        failures.withLock { $0 += 1 }
                    }
                }
            }
        }
        for thread in threads { #expect(thread.join()) }
        #expect(failures.withLock { $0 } == 0)
        #expect(session.wire.connection.unexpectedReplies == 0)
        #expect(eventually { fileSystem.lookups == 0 && fileSystem.openFiles == 0 })
    }

    @Test("F1: a RELEASE is done before the OPEN that comes after it") func releaseBeforeOpen() throws {
        let session = try WireSession(fileSystem)
        defer { session.stop() }
        let client = PathClient(session.wire)
        try client.put("/a", "x")
        var request = Request(caller: client.caller)
        guard case .found(let entry) = try session.wire.lookup(&request, parent: .root, name: #require(EntryName("a")))
        else { return #expect(Bool(false)) }
        for _ in 0..<2000 {
            let file = try session.wire.open(&request, node: entry.node, flags: [])
            var release = WireRequest(FUSE_RELEASE, node: entry.node)
            release.append(
                fuse_release_in(fh: file.handle.rawValue, flags: 0, release_flags: 0, lock_owner: 0))
            // As the kernel does after close(2), the client does not wait for the reply.
            session.wire.connection.post(release)
        }
        #expect(fileSystem.state.withLock { $0.overlappingOpens } == 0)
    }
}
