import Keychain
import KeychainRPC
import KeychainServer
import SecretCrypto

/// Section 9: consecutive complete frames to the service, each preceded by two bytes with its length.
extension FuzzTarget {
    static let service = FuzzTarget(
        "service", limit: 8192, cases: 150,
        words: [
            "genp", "inet", "class", "acct", "svce", "v_Data", "r_Data", "m_Limit", "m_LimitAll", "agrp", "pdmn",
            "bplist00",
        ],
        examples: { try serviceExamples() }
    ) { input in
        let memory = try MemoryKeychain()
        try memory.unlock()
        let service = RequestHandler(keychain: memory.keychain)
        let key = RevocableSecret(try SecretBytes(randomCount: 32))
        var reader = InputReader(input)
        while !reader.isAtEnd {
            let frame = reader.bytes(Int(reader.byte()) | Int(reader.byte()) << 8)
            let before = memory.keychain.commitCount
            let status = try status(of: frame, from: service, key)
            try hold(known.contains(status), "status \(status)")
            try hold(status == 0 || memory.keychain.commitCount == before, "a change by a request that failed")
        }
        try hold(try memory.keychain.check().isConsistent, "a keychain that is not sound")
    }

    /// The status codes of reference 3.14; none of these is a failure of the daemon.
    private static let known: Set<Int32> = [0, -4, -50, -34018, -25299, -25300, -25302, -25303, -25306, -25308]

    /// The status at the end of the response to a frame, which is read as a client does.
    private static func status(of frame: [UInt8], from service: RequestHandler, _ key: RevocableSecret) throws -> Int32
    {
        var kept = SealedBuffer(key: key, limit: max(1, frame.count))
        try kept.write(frame.span.bytes, at: 0)
        var stream = try service.handle(frame: kept, by: FileOwner(userID: 0, groupID: 0)).stream
        var reader = ResponseReader()
        while let piece = try stream.next() {
            try reader.append(piece.bytes) { _ in }
        }
        guard let status = reader.status else { throw Finding("an answer without an end") }
        return status
    }

    private static func serviceExamples() throws -> [[UInt8]] {
        let item: [String: PropertyList] = ["class": .string("genp"), "svce": .string("s"), "acct": .string("dave")]
        let all = item.merging(["m_Limit": .string("m_LimitAll"), "r_Attributes": .boolean(true)]) { $1 }
        let value: [String: PropertyList] = ["v_Data": .secret(0)]
        let requests = [
            ItemRequest(.add, query: item.merging(value) { $1 }, accessGroups: ["default"]),
            ItemRequest(.copyMatching, query: all, accessGroups: ["*"]),
            ItemRequest(.update, query: item, attributes: value, accessGroups: ["default"]),
            ItemRequest(
                .copyMatching, query: item.merging(["r_Data": .boolean(true)]) { $1 }, accessGroups: ["default"]),
            ItemRequest(.delete, query: item, accessGroups: ["default"]),
        ]
        let frames = try requests.map { try RequestFrame.head(of: $0, secretCount: 3) + [1, 2, 3] }.map {
            [UInt8(truncatingIfNeeded: $0.count), UInt8($0.count >> 8)] + $0
        }
        return frames + [frames.flatMap(\.self)]
    }
}
