import CFuse3
import FileSystemCore
import FileSystemTesting
import SystemPackage
import TestSupport
import Testing

/// Messages that no kernel sends are refused, and the session continues.
@Suite struct HostileMessageTests {
    private let session: WireSession
    private let client: PathClient

    init() throws {
        session = try WireSession(MemoryFileSystem())
        client = PathClient(session.wire)
    }

    private func answer(_ opcode: fuse_opcode, _ body: [UInt8]) -> Int32 {
        var request = WireRequest(opcode)
        request.append(bytes: body)
        return session.wire.connection.call(request).error
    }

    private func isAlive() throws {
        try client.put("/alive", "yes")
        #expect(try client.text("/alive") == "yes")
    }

    @Test func partsBeyondTheEnd() throws {
        defer { session.stop() }
        let tooShort: [(fuse_opcode, [UInt8])] = [
            (FUSE_LOOKUP, []), (FUSE_LOOKUP, Array("no end".utf8)), (FUSE_UNLINK, [65]),
            (FUSE_RENAME, [UInt8](repeating: 0, count: 8) + [65, 0, 66]),
            (FUSE_RENAME2, [UInt8](repeating: 1, count: 16) + [65, 0]), (FUSE_MKDIR, [1, 2, 3]),
            (FUSE_CREATE, [UInt8](repeating: 1, count: 16)), (FUSE_MKNOD, [UInt8](repeating: 1, count: 20)),
            (FUSE_READ, [UInt8](repeating: 0, count: 39)), (FUSE_SETATTR, [UInt8](repeating: 0, count: 87)),
            (FUSE_GETATTR, [0]), (FUSE_OPEN, []), (FUSE_FLUSH, [UInt8](repeating: 0, count: 23)),
            (FUSE_COPY_FILE_RANGE, [UInt8](repeating: 0, count: 55)), (FUSE_GETXATTR, [UInt8](repeating: 9, count: 9)),
            (FUSE_SYMLINK, [65, 0, 66]), (FUSE_LINK, [UInt8](repeating: 0, count: 8)),
            (FUSE_WRITE, [UInt8](repeating: 0xFF, count: 44)),
            (FUSE_SETXATTR, [5, 0, 0, 0, 0, 0, 0, 0, 65, 0, 1, 2, 3, 4]),
            (FUSE_SETXATTR, [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 65, 0]),
        ]
        for (opcode, body) in tooShort { #expect(answer(opcode, body) == 5, "opcode \(opcode.rawValue)") }
        try isAlive()
    }

    @Test func namesThatAreNone() throws {
        defer { session.stop() }
        #expect(answer(FUSE_LOOKUP, [0]) == 22)
        #expect(answer(FUSE_LOOKUP, Array("a/b".utf8) + [0]) == 22)
        #expect(answer(FUSE_LOOKUP, [UInt8](repeating: 65, count: 256) + [0]) == 36)
        #expect(answer(FUSE_MKNOD, [0, 0, 0, 0] + [UInt8](repeating: 0, count: 12) + [65, 0]) == 22)
        try isAlive()
    }

    @Test func unansweredOnes() throws {
        defer { session.stop() }
        var forget = WireRequest(FUSE_BATCH_FORGET)
        forget.append(fuse_batch_forget_in(count: .max, dummy: 0))
        session.wire.connection.post(forget)
        session.wire.connection.post(WireRequest(FUSE_FORGET))
        session.wire.connection.post(WireRequest(FUSE_INTERRUPT))
        session.wire.connection.post(WireRequest(FUSE_NOTIFY_REPLY))
        try isAlive()
        #expect(session.wire.connection.unexpectedReplies == 0)
        // The next request makes libfuse ask for a repetition of an interrupt whose request it does not know.
        var interrupt = WireRequest(FUSE_INTERRUPT)
        interrupt.append(bytes: [1] + [UInt8](repeating: 0, count: 7))
        session.wire.connection.post(interrupt)
        try isAlive()
        #expect(session.wire.connection.unexpectedReplies == 0)
    }

    @Test func unknownAndUnwanted() throws {
        defer { session.stop() }
        let payload = [UInt8](repeating: 0, count: 64)
        for opcode in [FUSE_IOCTL, FUSE_POLL, FUSE_BMAP, FUSE_FALLOCATE, FUSE_LSEEK, FUSE_GETLK, FUSE_SETLKW] {
            #expect(answer(opcode, payload) == 38, "opcode \(opcode.rawValue)")
        }
        #expect(answer(FUSE_TMPFILE, payload) == 38)
        #expect(answer(fuse_opcode(rawValue: 53), payload) == 38)
        #expect(answer(fuse_opcode(rawValue: 0xFFFF_FFFF), payload) == 38)
        #expect(answer(FUSE_INIT, payload) == 5)
        #expect(answer(CUSE_INIT, payload) == 5)
        try isAlive()
    }

    @Test func lengthsThatLie() throws {
        defer { session.stop() }
        _ = session.wire.connection.send([1, 2, 3])
        _ = session.wire.connection.send([UInt8](repeating: 0xFF, count: 39))
        for claimed: UInt32 in [0, 39, 41, .max] {
            var message = WireRequest(FUSE_STATFS).message(unique: 1_000_001 + UInt64(claimed))
            withUnsafeBytes(of: claimed) { message.replaceSubrange(0..<4, with: $0) }
            _ = session.wire.connection.send(message)
        }
        try isAlive()
        // Each of the four was answered, though nothing waited.
        #expect(session.wire.connection.unexpectedReplies == 4)
    }

    @Test func noise() throws {
        defer { session.stop() }
        let seed = UInt64.random(in: 1...1 << 40)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<3000 {
            var opcode = UInt32.random(in: 0...60, using: &random)
            // Would change what this session is.
            if opcode == FUSE_DESTROY.rawValue || opcode == FUSE_INIT.rawValue { opcode = FUSE_LOOKUP.rawValue }
            var request = WireRequest(
                fuse_opcode(rawValue: opcode), node: NodeID(rawValue: .random(in: 0...3, using: &random)))
            let size = Int.random(in: 0...200, using: &random)
            request.append(
                bytes: (0..<size).map { _ in
                    Bool.random(using: &random) ? 0 : UInt8.random(in: 0...255, using: &random)
                })
            _ = session.wire.connection.send(request.message(unique: 1 << 40))
        }
        #expect(throws: Never.self, "seed \(seed)") { try client.mkdir("/still") }
        #expect(try client.stat("/still").type == .directory, "seed \(seed)")
    }
}
