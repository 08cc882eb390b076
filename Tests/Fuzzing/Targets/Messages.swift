import KeychainRPC
import SecretCrypto

/// Section 9: binary property lists, requests and answers of `.keychainfs/rpc`.
extension FuzzTarget {
    static let lists = FuzzTarget("lists", limit: 4096, examples: { try listExamples() }) { input in
        guard let value = try? PropertyList(binary: input) else { return }
        let again = try PropertyList(binary: value.binary())
        try hold(again.comparable == value.comparable, "a list that is another one when it is written")
    }

    static let requests = FuzzTarget("requests", limit: 4096, examples: { try requestExamples() }) { input in
        guard let request = try? ItemRequest(list: input) else { return }
        let list = Array(try RequestFrame.head(of: request, secretCount: 3).dropFirst(FrameHeader.byteCount))
        let again = try ItemRequest(list: list)
        try hold(again.comparable == request.comparable, "a request that is another one when it is written")
    }

    /// The first byte determines where the response is split into chunks, which must not matter.
    static let responses = FuzzTarget("responses", limit: 4096, examples: { try answerExamples() }) { input in
        var reader = InputReader(input)
        let size = Int(reader.byte()) + 1
        let bytes = reader.remaining()
        let complete = ReadAnswer(bytes, pieceCount: max(1, bytes.count))
        let pieces = ReadAnswer(bytes, pieceCount: size)
        try hold(complete.frames == pieces.frames, "frames that depend on the pieces")
        try hold(
            (complete.status, complete.failure) == (pieces.status, pieces.failure), "an end that depends on the pieces")
    }

    // MARK: Examples

    private static let values: [PropertyList] = [
        .string("text"), .string("日本"), .data([0, 255]), .integer(-1), .integer(.max), .real(0.5), .boolean(true),
        .date(1e9), .null, .secret(0), .object, .array([.integer(1), .array([])]),
        .dictionary(["class": .string("genp"), "é": .null]), .accessControl(protection: "ak", flags: 1),
    ]

    private static func listExamples() throws -> [[UInt8]] {
        try values.map { try $0.binary() } + [PropertyList.array(values).binary()]
    }

    private static func requestExamples() throws -> [[UInt8]] {
        try ItemRequest.Operation.allCases.map { operation in
            let request = ItemRequest(
                operation, query: ["class": .string("genp"), "acct": .string("a"), "r_Data": .boolean(true)],
                attributes: operation == .update ? ["v_Data": .secret(0)] : [:], accessGroups: ["default", "g"])
            return Array(try RequestFrame.head(of: request, secretCount: 0).dropFirst(FrameHeader.byteCount))
        }
    }

    private static func answerExamples() throws -> [[UInt8]] {
        let first = try ResponseFrame.head(entries: [.secret(0), values[12]], counts: [3], ending: nil) + [1, 2, 3]
        let last = try ResponseFrame.head(entries: [], counts: [], ending: ResponseStatus(status: 0, isList: true))
        let failure = try ResponseFrame.head(entries: [], counts: [], ending: ResponseStatus(status: -25300))
        return [[255] + first + last, [0] + first + last, [0] + failure, [20] + first]
    }
}

/// An answer read in pieces of one size.
private struct ReadAnswer {
    struct Frame: Equatable {
        let entries: [PropertyList]
        let secrets: [[UInt8]]
        let ending: [Int32]
    }

    private(set) var frames: [Frame] = []
    private(set) var status: Int32?
    private(set) var failure: FrameError?

    init(_ bytes: [UInt8], pieceCount: Int) {
        var reader = ResponseReader()
        var frames: [Frame] = []
        var start = 0
        do throws(FrameError) {
            while start < bytes.count {
                let piece = Array(bytes[start..<min(bytes.count, start + pieceCount)])
                try reader.append(piece.span.bytes) { frames.append(Self.frame($0)) }
                start += piece.count
            }
        } catch {
            failure = error
        }
        (self.frames, status) = (frames, reader.status)
    }

    private static func frame(_ frame: borrowing ResponseFrame) -> Frame {
        var secrets: [[UInt8]] = []
        for index in 0..<frame.secretCount {
            if let secret = frame.secret(index) { secrets.append([UInt8](copying: secret)) }
        }
        let ending = frame.isLast ? [frame.status, frame.isList ? 1 : 0] : []
        return Frame(entries: frame.entries.map(\.comparable), secrets: secrets, ending: ending)
    }
}

extension PropertyList {
    /// The value with each NaN replaced by text, because NaN is not equal to itself. (Collections that share their
    /// storage are equal in any case, so comparing a list with itself does not detect a NaN.)
    fileprivate var comparable: PropertyList {
        switch self {
        case .real(let number) where number.isNaN: .string("NaN")
        case .date(let seconds) where seconds.isNaN: .array([.string("NaN")])
        case .array(let values): .array(values.map(\.comparable))
        case .dictionary(let values): .dictionary(values.mapValues(\.comparable))
        default: self
        }
    }
}

extension ItemRequest {
    fileprivate var comparable: ItemRequest {
        ItemRequest(
            operation, query: query.mapValues(\.comparable), attributes: attributes.mapValues(\.comparable),
            accessGroups: accessGroups)
    }
}
