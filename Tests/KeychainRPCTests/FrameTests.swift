import KeychainRPC
import SecretCrypto
import Testing

@Suite("Frames, section 9")
struct FrameTests {
    private let request = ItemRequest(
        .update, query: ["class": .string("genp")], attributes: ["v_Data": .secret(0)], accessGroups: ["default"])

    @Test("section 9: a header is magic and version, 4 bytes and 8 bytes, big-endian")
    func header() throws {
        let header = try FrameHeader(listCount: 0x0102, secretCount: 0x0304)
        #expect(header.bytes == [0x4B, 0x43, 0x46, 1, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 3, 4])
        #expect(try FrameHeader.first(of: header.bytes.rawSpan) == header)
        #expect(header.frameCount == 16 + 0x0102 + 0x0304)
    }

    @Test("an incomplete header is not decoded; another magic is refused at its first byte")
    func prefixes() throws {
        let bytes = try FrameHeader(listCount: 1, secretCount: 2).bytes
        for count in 0..<16 { #expect(try FrameHeader.first(of: Array(bytes.prefix(count)).rawSpan) == nil) }
        for index in 0..<4 {
            var other = Array(bytes.prefix(index + 1))
            other[index] ^= 1
            #expect(throws: FrameError.malformed) { _ = try FrameHeader.first(of: other.rawSpan) }
        }
    }

    @Test("a length that no frame can have")
    func lengths() throws {
        let huge = FrameHeader.magic + [UInt8](repeating: 0xFF, count: 12)
        #expect(throws: FrameError.tooLong) { _ = try FrameHeader.first(of: huge.rawSpan) }
        #expect(throws: FrameError.tooLong) { _ = try FrameHeader(listCount: 1 << 32, secretCount: 0) }
        #expect(throws: FrameError.tooLong) { _ = try FrameHeader(listCount: 1, secretCount: .max) }
        #expect(throws: FrameError.tooLong) { _ = try FrameHeader(listCount: -1, secretCount: 0) }
    }

    @Test("section 9: a request has at most the value limit and 128 KiB, which its header alone shows")
    func limit() throws {
        let limit = RequestFrame.limit(valueLimit: 1 << 20)
        #expect(limit == (1 << 20) + (128 << 10))
        let longest = try FrameHeader(listCount: 100, secretCount: limit - 116)
        #expect(try RequestFrame.count(prefix: longest.bytes.rawSpan, limit: limit) == limit)
        let longer = try FrameHeader(listCount: 101, secretCount: limit - 116)
        #expect(throws: FrameError.tooLong) {
            _ = try RequestFrame.count(prefix: longer.bytes.rawSpan, limit: limit)
        }
    }

    @Test("section 9: a request is the same afterwards, and its secret is not in the list")
    func requests() throws {
        let secret = Array("a secret that stands out".utf8)
        let frame = try RequestFrame.bytes(of: request, secret: SecretBytes(copying: secret.rawSpan))
        let bytes = [UInt8](copying: frame.bytes)
        let header = try #require(try FrameHeader.first(of: bytes.rawSpan))
        #expect(header.frameCount == bytes.count && header.secretCount == secret.count)
        let list = Array(bytes[16..<16 + header.listCount])
        #expect(try ItemRequest(list: list) == request)
        #expect(!list.rawSpan.contains(secret) && bytes.suffix(secret.count) == secret[...])
        let head = try RequestFrame.head(of: request, secretCount: secret.count)
        #expect(head.count + secret.count == bytes.count && head.prefix(16) == bytes.prefix(16))
        #expect(try ItemRequest(list: Array(head.dropFirst(16))) == request)
    }

    @Test("a request with unknown keys or without required ones is refused")
    func wrongRequests() throws {
        let valid: [String: PropertyList] = [
            "operation": .string("copyMatching"), "query": .dictionary([:]), "accessGroups": .array([.string("g")]),
        ]
        #expect(try ItemRequest(list: PropertyList.dictionary(valid).binary()).accessGroups == ["g"])
        let changes: [(String, PropertyList?)] = [
            ("operation", nil), ("operation", .string("drop")), ("operation", .integer(1)), ("query", nil),
            ("query", .array([])), ("accessGroups", nil), ("accessGroups", .string("g")),
            ("attributes", .dictionary([:])),
            ("accessGroups", .array((0...1024).map { .string("\($0)") })), ("accessGroups", .array([.data([1])])),
            ("more", .null), ("operation", .string("update")),
        ]
        for (key, value) in changes {
            var values = valid
            values[key] = value
            let list = try PropertyList.dictionary(values).binary()
            #expect(throws: FrameError.malformed, "\(key)") { _ = try ItemRequest(list: list) }
        }
        #expect(throws: FrameError.malformed) { _ = try ItemRequest(list: PropertyList.array([]).binary()) }
    }
}

@Suite("Reading a response")
struct ResponseReaderTests {
    private struct Frame: Equatable {
        let entries: [PropertyList]
        let secrets: [[UInt8]]
        let isLast: Bool
        let status: Int32
        let isList: Bool
    }

    private static func bytes(_ entries: [PropertyList], _ secrets: [[UInt8]], _ ending: ResponseStatus?) throws
        -> [UInt8]
    {
        try ResponseFrame.head(entries: entries, counts: secrets.map(\.count), ending: ending) + secrets.flatMap { $0 }
    }

    /// Decodes bytes that arrive `step` at a time.
    private func read(_ bytes: [UInt8], step: Int) throws -> (frames: [Frame], status: Int32?) {
        var reader = ResponseReader()
        var frames: [Frame] = []
        for start in stride(from: 0, to: bytes.count, by: step) {
            let piece = Array(bytes[start..<min(bytes.count, start + step)])
            try reader.append(piece.rawSpan) { frame in
                frames.append(
                    Frame(
                        entries: frame.entries, secrets: frame.secrets(), isLast: frame.isLast, status: frame.status,
                        isList: frame.isList))
            }
        }
        return (frames, reader.status)
    }

    @Test("cut anywhere it is the same", arguments: [1, 2, 3, 15, 16, 17, 100, 4096, 1 << 20])
    func cuts(step: Int) throws {
        let big = [UInt8](repeating: 7, count: 5000)
        let bytes =
            try Self.bytes([.secret(0), .dictionary(["v_Data": .secret(1)])], [[1, 2, 3], []], nil)
            + Self.bytes([.secret(0)], [big], nil) + Self.bytes([], [], ResponseStatus(status: 0, isList: true))
        let (frames, status) = try read(bytes, step: step)
        #expect(status == 0)
        #expect(
            frames == [
                Frame(
                    entries: [.secret(0), .dictionary(["v_Data": .secret(1)])], secrets: [[1, 2, 3], []], isLast: false,
                    status: 0, isList: false),
                Frame(entries: [.secret(0)], secrets: [big], isLast: false, status: 0, isList: false),
                Frame(entries: [], secrets: [], isLast: true, status: 0, isList: true),
            ])
    }

    @Test("an incomplete response has no status; bytes after the end are refused")
    func ends() throws {
        let last = try Self.bytes([], [], ResponseStatus(status: -25300))
        #expect(try read(Array(last.dropLast()), step: 7).status == nil)
        #expect(try read(last, step: 7).status == -25300)
        #expect(throws: FrameError.malformed) { try read(last + [0x4B], step: 1 << 20) }
        #expect(throws: FrameError.malformed) { try read(last + last, step: 1) }
    }

    @Test("an invalid response is refused")
    func malformed() throws {
        #expect(throws: FrameError.malformed) { try read(Array("# a file of somebody".utf8), step: 4) }
        #expect(throws: FrameError.malformed) { try read(FrameHeader(listCount: 0, secretCount: 0).bytes, step: 16) }
        let long = try FrameHeader(listCount: ResponseReader.listLimit + 1, secretCount: 0).bytes
        #expect(throws: FrameError.tooLong) { try read(long, step: 16) }
        let lists: [PropertyList] = [
            .array([]), .dictionary(["entries": .array([])]), .dictionary(["entries": .null, "secrets": .array([])]),
            .dictionary(["entries": .array([]), "secrets": .array([.string("1")])]),
            .dictionary(["entries": .array([]), "secrets": .array([]), "status": .integer(0)]),
            .dictionary([
                "entries": .array([]), "secrets": .array([]), "status": .integer(1 << 40), "list": .boolean(true),
            ]),
            .dictionary(["entries": .array([]), "secrets": .array([]), "more": .null]),
            .dictionary(["entries": .array([]), "secrets": .array([.integer(1)])]),
        ]
        for list in lists {
            let list = try list.binary()
            let frame = try FrameHeader(listCount: list.count, secretCount: 0).bytes + list
            #expect(throws: FrameError.malformed) { try read(frame, step: 1 << 20) }
        }
    }

    @Test("more secrets than locked memory holds: refused, not taken to ordinary memory")
    func memory() throws {
        let list = try PropertyList.dictionary(["entries": .array([]), "secrets": .array([])]).binary()
        let frame = try FrameHeader(listCount: list.count, secretCount: 1 << 40).bytes + list
        #expect(throws: FrameError.outOfSecretMemory) { try read(frame, step: 1 << 20) }
    }
}
