import CFuse3
import FileSystemCore
import FileSystemTesting
import Fuse
import SystemPackage
import Testing

/// The effect of single messages on the binding.
@Suite struct WireTests {
    let fileSystem = MemoryFileSystem()

    private func session(minor: UInt32 = 45, workers: Int = 4) throws -> (WireSession, PathClient) {
        let session = try WireSession(fileSystem, minor: minor, workers: workers)
        return (session, PathClient(session.wire, maximumWrite: 65_536))
    }

    @Test func agreementAtInit() throws {
        let (session, _) = try session()
        defer { session.stop() }
        let agreed = session.wire.agreement
        #expect(agreed.max_write == 1 << 20 && agreed.max_background == 512 && agreed.max_readahead == 0)
        let wanted = [
            FUSE_ASYNC_READ, FUSE_ASYNC_DIO, FUSE_ATOMIC_O_TRUNC, FUSE_DO_READDIRPLUS, FUSE_READDIRPLUS_AUTO,
        ]
        // What libfuse itself agrees to. FUSE_PARALLEL_DIROPS reaches the kernel since libfuse 3.15 only.
        let own = [FUSE_BIG_WRITES, FUSE_MAX_PAGES, FUSE_INIT_EXT, FUSE_PARALLEL_DIROPS]
        let union = { (flags: [Int32]) in flags.reduce(UInt64(0)) { $0 | UInt64($1) } }
        // Everything else is refused: the writeback cache, locks, ACLs, the longer form of SETXATTR, requests through io_uring, …
        #expect(session.wire.agreedFlags & ~union(own) == union(wanted))
        #expect(session.session.buffersAreLocked)
    }

    @Test("H5: a request that its handler leaves unanswered gets EIO, once") func unanswered() throws {
        let (session, client) = try session()
        defer { session.stop() }
        try client.put("/a", "x")
        fileSystem.script.withLock { $0.onRead = { _ in false } }
        #expect(client.errno { c throws(Errno) in _ = try c.contents("/a") } == .ioError)
        fileSystem.script.withLock { $0.onRead = nil }
        #expect(try client.text("/a") == "x")
        #expect(session.wire.connection.unexpectedReplies == 0)
    }

    @Test("L4: FUSE_INTERRUPT reaches the handler") func interrupt() throws {
        let (session, client) = try session()
        defer { session.stop() }
        try client.put("/a", "x")
        let entered = TestSemaphore()
        fileSystem.script.withLock {
            $0.onRead = { request in
                entered.signal()
                _ = eventually { request.isInterrupted }
                return false
            }
        }
        let result = MutexBox<Errno?>(nil)
        let reader = TestThread.started {
            let error = client.errno { c throws(Errno) in _ = try c.contents("/a") }
            result.withLock { $0 = error }
        }
        entered.wait()
        session.wire.interruptAll()
        #expect(reader.join())
        #expect(result.withLock { $0 } == .interrupted)
    }

    @Test func lockOwners() throws {
        let (session, client) = try session()
        defer { session.stop() }
        let file = try client.open("/a", [.create, .readWrite])
        let child = client.fork()
        try child.write(file, [1])
        try child.ftruncate(file, 4)
        try child.close(file)
        try client.truncate("/a", 2)
        try client.close(file)
        let calls = fileSystem.calls
        #expect(calls.contains("write 1 by \(child.owner.rawValue)"))
        #expect(calls.contains("truncate 4 by \(child.owner.rawValue) with handle"))
        #expect(calls.contains("truncate 2 by \(client.owner.rawValue)"))
        #expect(calls.contains("flush by \(child.owner.rawValue)"))
        #expect(calls.contains("flush by \(client.owner.rawValue)"))
        #expect(calls.count { $0 == "release" } == 1)
    }

    @Test func openFlags() throws {
        let (session, client) = try session()
        defer { session.stop() }
        try client.put("/a", "x")
        fileSystem.script.withLock {
            $0.opened.directIO = false
            $0.opened.noFlush = true
            $0.opened.nonSeekable = true
        }
        var request = Request(caller: client.caller)
        guard case .found(let entry) = try session.wire.lookup(&request, parent: .root, name: #require(EntryName("a")))
        else { return #expect(Bool(false)) }
        let file = try session.wire.open(&request, node: entry.node, flags: [.readWrite, .truncate])
        // libfuse has no field for this flag before 3.11.
        #expect(!file.directIO && file.noFlush == (FUSE_MINOR_VERSION >= 11) && file.nonSeekable)
        session.wire.release(&request, node: entry.node, handle: file.handle)
        #expect(fileSystem.count("open \(0o1002)") == 1)
        #expect(try client.stat("/a").size == 0)
    }

    @Test func absentNames() throws {
        let (session, _) = try session()
        defer { session.stop() }
        var request = Request(caller: Caller(userID: 0, groupID: 0, processID: 1))
        let name = try #require(EntryName("none"))
        #expect(throws: Errno.noSuchFileOrDirectory) {
            try session.wire.lookup(&request, parent: .root, name: name)
        }
        fileSystem.script.withLock { $0.negativeTimeout = 2.5 }
        guard case .absent(let timeout) = try session.wire.lookup(&request, parent: .root, name: name) else {
            return #expect(Bool(false))
        }
        #expect(timeout == 2.5)
    }

    @Test func xattrSizes() throws {
        let (session, client) = try session()
        defer { session.stop() }
        try client.setxattr("/", "user.x", "12345")
        let request = Request(caller: client.caller)
        let name = Array("user.x".utf8)
        let size = try session.wire.xattr(FUSE_GETXATTR, .root, request, name, room: 0)
        #expect(size.value(at: 0, as: fuse_getxattr_out.self).size == 5)
        #expect(try session.wire.xattr(FUSE_GETXATTR, .root, request, name, room: 5) == Array("12345".utf8))
        for opcode in [FUSE_GETXATTR, FUSE_LISTXATTR] {
            #expect(throws: Errno(rawValue: 34)) {
                try session.wire.xattr(opcode, .root, request, opcode == FUSE_GETXATTR ? name : nil, room: 4)
            }
        }
    }

    @Test func entriesThatDoNotFitAreNoLookups() throws {
        let (session, client) = try session()
        defer { session.stop() }
        for index in 0..<100 {
            _ = try fileSystem.make(.root, #require(EntryName("name-\(index)")), .regular, 0o600)
        }
        var request = Request(caller: client.caller)
        let handle = try session.wire.opendir(&request, node: .root)
        var read = WireRequest(FUSE_READDIRPLUS)
        read.append(
            fuse_read_in(
                fh: handle.rawValue, offset: 0, size: 1000, read_flags: 0, lock_owner: 0, flags: 0, padding: 0))
        let body = session.wire.connection.call(read).body
        // `.` and five names of 128 + 32 bytes.
        #expect(body.count <= 1000 && body.count > 800)
        #expect(fileSystem.lookups == 5)
        session.wire.releasedir(&request, node: .root, handle: handle)
    }

    @Test func access() throws {
        let (session, client) = try session()
        defer { session.stop() }
        var request = Request(caller: client.caller)
        try session.wire.access(&request, node: .root, mask: 4)
        try session.wire.fsyncdir(&request, node: .root, handle: HandleID(rawValue: 0), dataOnly: true)
        #expect(fileSystem.calls.contains("access 4") && fileSystem.calls.contains("fsyncdir true"))
    }

    @Test func batchForget() throws {
        let (session, client) = try session()
        defer { session.stop() }
        try client.put("/a", "")
        var request = Request(caller: client.caller)
        guard case .found(let entry) = try session.wire.lookup(&request, parent: .root, name: #require(EntryName("a")))
        else { return #expect(Bool(false)) }
        #expect(fileSystem.lookups == 1)
        var forget = WireRequest(FUSE_BATCH_FORGET)
        forget.append(fuse_batch_forget_in(count: 2, dummy: 0))
        forget.append(fuse_forget_one(nodeid: entry.node.rawValue, nlookup: 1))
        forget.append(fuse_forget_one(nodeid: 999, nlookup: 3))
        session.wire.connection.post(forget)
        #expect(eventually { fileSystem.lookups == 0 })
    }

    @Test func exitEndsTheLoop() throws {
        let (session, client) = try session()
        try client.put("/a", "")
        session.session.exit()
        #expect(session.waitForEnd())
        #expect(fileSystem.state.withLock { $0.destroyed } == 1)
        #expect(throws: FuseError.wrongState) { try session.session.run() }
        #expect(throws: FuseError.notMounted) { try session.session.unmount() }
        // There is no receiver, and the call does not wait for one.
        session.session.notifier.send([.inode(.root, pages: true)])
    }
}
