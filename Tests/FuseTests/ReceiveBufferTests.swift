import CFuse3
import FileSystemCore
import FileSystemTesting
import Foundation
import SystemPackage
import Testing

@testable import Fuse

/// Receive buffers hold what programs write: contents, attributes, names.
@Suite struct ReceiveBufferTests {
    private let fileSystem = MemoryFileSystem()

    /// Returns whether a receive buffer of this process contains the bytes.
    private static func buffersHold(_ canary: [UInt8]) throws -> Bool {
        try MemoryScan.lockedMappings { $0.range(of: Data(canary)) != nil }.contains(true)
    }

    private static func canary() -> [UInt8] { Array("canary-\(UUID().uuidString)".utf8) }

    /// Sends a message and returns when its buffer has been used for the next one, of a few bytes.
    private func send(_ request: WireRequest, over session: WireSession, cut: Int? = nil) {
        var message = request.message(unique: 1 << 41)
        if let cut { message = Array(message.prefix(cut)) }
        #expect(session.wire.connection.send(message))
        var question = Request(caller: request.caller)
        _ = try? session.wire.statfs(&question, node: .root)
    }

    private func write(_ bytes: [UInt8], claiming size: Int? = nil) -> WireRequest {
        var request = WireRequest(FUSE_WRITE)
        request.append(
            fuse_write_in(
                fh: 0, offset: 0, size: UInt32(size ?? bytes.count), write_flags: 0, lock_owner: 0, flags: 0,
                padding: 0))
        request.append(bytes: bytes)
        return request
    }

    @Test("H1: while a WRITE is served its buffer holds the contents, afterwards it does not")
    func written() throws {
        let session = try WireSession(fileSystem, workers: 1)
        defer { session.stop() }
        let client = PathClient(session.wire, maximumWrite: 65_536)
        let canary = Self.canary()
        let held = MutexBox(false)
        fileSystem.script.withLock {
            $0.onWrite = { _ in
                let found = (try? Self.buffersHold(canary)) ?? false
                held.withLock { $0 = found }
                return true
            }
        }
        try client.put("/a", [UInt8](repeating: 0x2E, count: 5000) + canary)
        #expect(held.withLock { $0 }, "the scan does not find what is there")
        try client.unlink("/a")
        #expect(try !Self.buffersHold(canary))
    }

    @Test("H1: free buffers beyond those that are kept go back to the system; a pool with a limit lends no more")
    func pool() throws {
        let buffers = MessageBufferPool(size: 4096, kept: 2)
        let slots = try (0..<5).map { _ in try buffers.acquire() }
        #expect(Set(slots.map { UInt(bitPattern: $0.buffer.start) }).count == 5)
        for slot in slots { buffers.release(slot) }
        let again = try (0..<2).map { _ in try buffers.acquire() }
        #expect(again.allSatisfy { slots.contains($0) })
        let fresh = try buffers.acquire()
        #expect(!slots.contains(fresh) && buffers.areLocked)
        let limited = MessageBufferPool(size: 4096, limit: 1)
        let only = try limited.acquire()
        #expect(limited.acquireIfFree() == nil)
        limited.release(only)
        #expect(limited.acquireIfFree() == only)
    }

    @Test("H1: a message that its handler has released is wiped before the reply")
    func released() throws {
        let session = try WireSession(fileSystem, workers: 1, servesAtOnce: true)
        defer { session.stop() }
        let client = PathClient(session.wire, maximumWrite: 65_536)
        for padding in [100, 5000] {
            let canary = Self.canary()
            let held = MutexBox<[Bool]>([])
            fileSystem.script.withLock {
                $0.onWrite = { request in
                    let before = (try? Self.buffersHold(canary)) ?? false
                    request.willBlock()
                    request.releaseMessage()
                    // A second call must not touch a buffer that another thread uses.
                    request.releaseMessage()
                    let after = (try? Self.buffersHold(canary)) ?? true
                    held.withLock { $0 = [before, after] }
                    return false
                }
            }
            try client.put("/a", [UInt8](repeating: 0x2E, count: padding) + canary)
            #expect(held.withLock { $0 } == [true, false], "\(padding) bytes before it")
        }
    }

    @Test("H1: during a wait for another request a message is overwritten, unless its bytes are still used")
    func waiting() throws {
        let session = try WireSession(fileSystem, workers: 1, servesAtOnce: true)
        defer { session.stop() }
        let client = PathClient(session.wire)
        let (canary, value) = (Self.canary(), Self.canary())
        try client.put("/a", "x")
        let held = MutexBox<[Bool]>([])
        fileSystem.script.withLock {
            $0.onXattr = {
                let before = (try? Self.buffersHold(canary)) ?? false
                RequestWait.announce()
                // A second wait must not touch a buffer that another thread uses.
                RequestWait.announce()
                let after = (try? Self.buffersHold(canary)) ?? true
                held.withLock { $0 = [before, after] }
            }
        }
        let name = "user." + String(decoding: canary, as: UTF8.self)
        #expect(throws: Errno(rawValue: 61)) { try client.getxattr("/a", name) }
        #expect(held.withLock { $0 } == [true, false])
        // The value of a SETXATTR is still needed.
        try client.setxattr("/a", name, value, [])
        #expect(held.withLock { $0 } == [true, true])
        #expect(try client.getxattr("/a", name) == value)
        #expect(try !Self.buffersHold(canary))
    }

    @Test("H1: attributes and names are wiped from their buffer") func attributesAndNames() throws {
        let session = try WireSession(fileSystem, workers: 1)
        defer { session.stop() }
        let client = PathClient(session.wire)
        let (value, name, old) = (Self.canary(), Self.canary(), Self.canary())
        let path = "/" + String(decoding: old, as: UTF8.self)
        try client.put(path, "x")
        try client.setxattr(path, "user.x", value, [])
        try client.rename(path, "/" + String(decoding: name, as: UTF8.self))
        _ = try client.stat("/")
        for canary in [value, name, old] { #expect(try !Self.buffersHold(canary)) }
    }

    @Test("H1: the buffer of a refused request is wiped too") func refused() throws {
        let session = try WireSession(fileSystem, workers: 1)
        defer { session.stop() }
        let canary = Self.canary()
        // A message that is too long, a truncated one, an unknown operation, and an unexpected reply.
        var lookup = WireRequest(FUSE_LOOKUP)
        lookup.append(bytes: canary)
        var attribute = WireRequest(FUSE_SETXATTR)
        attribute.append(bytes: [0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 65, 0] + canary)
        var unknown = WireRequest(FUSE_IOCTL)
        unknown.append(bytes: canary)
        var reply = WireRequest(FUSE_NOTIFY_REPLY)
        reply.append(bytes: canary)
        for request in [write(canary, claiming: 1 << 20), lookup, attribute, unknown, reply] {
            send(request, over: session)
            #expect(try !Self.buffersHold(canary), "opcode \(request.opcode)")
        }
        send(write(canary), over: session, cut: 40 + 40 + canary.count - 1)
        #expect(try !Self.buffersHold(Array(canary.dropLast())))
    }

    @Test("H1: so is what is too short to be a message") func short() throws {
        let session = try WireSession(fileSystem, workers: 1)
        defer { session.stop() }
        let canary = Array(Self.canary().suffix(32))
        // Not overwritten by the next message, whose header ends with zeroes before the last of these.
        #expect(session.wire.connection.send([UInt8](repeating: 0, count: 7) + canary))
        #expect(eventually { (try? !Self.buffersHold(canary)) ?? false })
        #expect(try !Self.buffersHold(Array(canary.suffix(8))))
    }

    @Test("H1: a buffer is locked, and a long message leaves neither its bytes nor its pages")
    func longMessage() throws {
        let buffer = try MessageBuffer()
        let isLocked = buffer.isLocked
        #expect(isLocked)
        #expect(Self.residentPages(buffer) == 0)
        memset(buffer.start, 0xA5, MessageBuffer.size)
        #expect(Self.residentPages(buffer) == MessageBuffer.size / Self.page)
        buffer.wipe(MessageBuffer.size)
        #expect(Self.residentPages(buffer) <= MessageBuffer.kept / Self.page)
        let bytes = UnsafeRawBufferPointer(start: buffer.start, count: MessageBuffer.size)
        #expect(bytes.allSatisfy { $0 == 0 })
        // Both a new and a returned buffer are locked, and excluded from core dumps and children.
        let flags = MemoryScan.flags(at: buffer.start)
        #expect(Set(["lo", "dd", "wf"]).isSubset(of: flags), "\(flags)")
    }

    @Test("H1: the bytes of a short message are wiped, its pages stay") func shortMessage() throws {
        let buffer = try MessageBuffer()
        memset(buffer.start, 0xA5, 20_000)
        let before = Self.residentPages(buffer)
        buffer.wipe(20_000)
        #expect(Self.residentPages(buffer) == before)
        #expect(UnsafeRawBufferPointer(start: buffer.start, count: 20_000).allSatisfy { $0 == 0 })
    }

    private static let page = Int(sysconf(Int32(_SC_PAGESIZE)))

    /// By mincore(2).
    private static func residentPages(_ buffer: borrowing MessageBuffer) -> Int {
        var pages = [UInt8](repeating: 0, count: MessageBuffer.size / page)
        guard mincore(buffer.start, MessageBuffer.size, &pages) == 0 else { return -1 }
        return pages.count { $0 & 1 != 0 }
    }
}
