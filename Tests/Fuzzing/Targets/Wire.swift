import CFuse3
import FileSystemCore
import FileSystemTesting
import Keychain

/// A1: requests of any form over libfuse's socket to a tree: a list of requests, each with an opcode, a node, a caller,
/// two bytes of its length, and the bytes after the header.
extension FuzzTarget {
    static let wire = FuzzTarget(
        "wire", limit: 2048, cases: 60,
        words: [
            "generic-passwords\0", "s\0", "alice\0", ".keychainfs\0", "control\0", "lock\0", "rpc\0", "user.a\0",
            "user.kSecAttrAccount\0",
        ],
        examples: { wireExamples }
    ) { input in
        let memory = try MemoryKeychain()
        try memory.unlock()
        let session = try WireSession(memory.tree, workers: 2)
        var reader = InputReader(input)
        while !reader.isAtEnd { try send(&reader, to: session.wire.connection) }
        let alive = session.wire.connection.call(WireRequest(FUSE_STATFS))
        try hold(alive.error == 0, "a session that answers \(alive.error)")
        try hold(session.wire.connection.unexpectedReplies == 0, "an answer that nobody has asked for")
        try hold(session.stop(), "a session that does not end")
        try hold(try memory.keychain.check().isConsistent, "a keychain that is not sound")
    }

    private static let unanswered = [FUSE_FORGET, FUSE_BATCH_FORGET, FUSE_INTERRUPT, FUSE_NOTIFY_REPLY].map(\.rawValue)
    /// Would change what the session is; no kernel sends them twice.
    private static let unwanted = [FUSE_INIT, FUSE_DESTROY, CUSE_INIT].map(\.rawValue)

    private static func send(_ reader: inout InputReader, to connection: WireConnection) throws {
        var opcode = UInt32(reader.byte())
        if unwanted.contains(opcode) { opcode = FUSE_LOOKUP.rawValue }
        let node = NodeID(rawValue: UInt64(reader.byte()))
        let user = UInt32(reader.byte())
        var request = WireRequest(
            fuse_opcode(rawValue: opcode), node: node, caller: Caller(userID: user, groupID: user, processID: 1))
        request.append(bytes: reader.bytes(Int(reader.byte()) | Int(reader.byte()) << 8))
        guard !unanswered.contains(opcode) else { return connection.post(request) }
        let error = connection.call(request).error
        try hold(error == 5 || !isCut(opcode, request.body), "a request that ends too early was answered \(error)")
    }

    /// Whether a request is shorter than its header and opcode require. Such requests fail with EIO. Covers only
    /// opcodes whose minimum size is simple to state.
    private static func isCut(_ opcode: UInt32, _ body: [UInt8]) -> Bool {
        switch fuse_opcode(rawValue: opcode) {
        case FUSE_LOOKUP, FUSE_UNLINK, FUSE_RMDIR, FUSE_REMOVEXATTR: !body.contains(0)
        case FUSE_READ, FUSE_READDIR, FUSE_READDIRPLUS: body.count < 40
        case FUSE_WRITE: body.count < 40 || Int(body.value(at: 16, as: UInt32.self)) > body.count - 40
        default: false
        }
    }

    // MARK: Examples

    /// The requests that a kernel sends for some system calls; nodes and handles are numbered in order of creation.
    private static let wireExamples: [[UInt8]] = [
        lookups + create + write + close,
        lookups + [request(FUSE_OPENDIR, 2, zeros(8)), readdir, statfs].flatMap(\.self),
        lookups + xattrs + rename, lookups + forgets, [],
        request(FUSE_LOOKUP, 1, Array("generic".utf8)) + request(FUSE_WRITE, 2, zeros(39)),
        lookups + request(FUSE_LOOKUP, 3, name("alice")) + copy,
    ]
    private static let lookups =
        request(FUSE_LOOKUP, 1, name("generic-passwords")) + request(FUSE_LOOKUP, 2, name("s"))
    private static let create = request(FUSE_CREATE, 3, numbers([0o101, 0o600, 0o22, 0]) + name("new"))
    private static let write = request(FUSE_WRITE, 4, numbers([1, 0, 0, 0, 3, 0, 7, 0, 0, 0]) + [1, 2, 3])
    private static let close =
        request(FUSE_FLUSH, 4, numbers([1, 0, 0, 0, 7, 0])) + request(FUSE_RELEASE, 4, numbers([1, 0, 0, 0, 7, 0]))
    private static let readdir = request(FUSE_READDIRPLUS, 2, numbers([1, 0, 0, 0, 4096, 0, 0, 0, 0, 0]))
    private static let statfs = request(FUSE_STATFS, 1, [])
    private static let xattrs =
        request(FUSE_SETXATTR, 3, numbers([1, 0]) + name("user.a") + [7])
        + request(FUSE_GETXATTR, 3, numbers([100, 0]) + name("user.kSecAttrService"))
        + request(FUSE_LISTXATTR, 3, numbers([0, 0])) + request(FUSE_REMOVEXATTR, 3, name("user.a"))
    private static let rename =
        request(FUSE_RENAME2, 2, numbers([2, 0, 1, 0]) + name("s") + name("t")) + request(FUSE_UNLINK, 3, name("alice"))
    private static let forgets =
        request(FUSE_FORGET, 3, numbers([1, 0])) + request(FUSE_BATCH_FORGET, 1, numbers([1, 0, 2, 0, 9, 0]))
    private static let copy =
        request(FUSE_OPEN, 4, numbers([2, 0]))
        + request(FUSE_COPY_FILE_RANGE, 4, numbers([1, 0, 0, 0, 4, 0, 1, 0, 5, 0, 9, 0, 0, 0]))
        + request(FUSE_READ, 4, numbers([1, 0, 0, 0, 64, 0, 2, 0, 7, 0, 0, 0]))
        + request(FUSE_SETATTR, 4, numbers([0x48, 0, 1, 0, 2, 0] + [UInt32](repeating: 0, count: 16)))

    private static func request(_ opcode: fuse_opcode, _ node: UInt8, _ body: [UInt8]) -> [UInt8] {
        [
            UInt8(truncatingIfNeeded: opcode.rawValue), node, 0, UInt8(truncatingIfNeeded: body.count),
            UInt8(body.count >> 8),
        ]
            + body
    }

    private static func name(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }
    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
    private static func numbers(_ numbers: [UInt32]) -> [UInt8] {
        numbers.flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
    }
}
