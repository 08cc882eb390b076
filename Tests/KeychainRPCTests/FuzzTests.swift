import Foundation
import KeychainRPC
import KeychainTesting
import SecretCrypto
import TestSupport
import Testing

/// Changes valid messages at random and decodes them. The decoder must not trap, and a decoded message must decode the
/// same again. `KEYCHAINFS_FUZZ_CASES` sets the number of cases of each kind (2,000).
@Suite("Messages changed at random")
struct FuzzTests {
    private static let cases =
        ProcessInfo.processInfo.environment["KEYCHAINFS_FUZZ_CASES"].flatMap { Int($0) } ?? TestLane.rounds(2_000)

    @Test("lists")
    func lists() throws {
        var generator = SeededGenerator(seed: 0x5EED)
        var valid = 0
        for round in 0..<Self.cases {
            var bytes = try PropertyList.random(&generator).binary()
            Mutation.apply(to: &bytes, &generator)
            guard let value = try? PropertyList(binary: bytes) else { continue }
            valid += 1
            // Not a number is not equal to itself, whereas an array that contains it may be: arrays with the same storage are equal.
            guard !value.containsNaN else { continue }
            #expect(try PropertyList(binary: value.binary()) == value, "\(round)")
        }
        // It is no test if everything is refused, or nothing.
        #expect((Self.cases / 50..<Self.cases).contains(valid), "\(valid)")
    }

    @Test("requests")
    func requests() throws {
        var generator = SeededGenerator(seed: 0xF00D)
        var valid = 0
        for _ in 0..<Self.cases {
            let operation = ItemRequest.Operation.allCases.randomElement(using: &generator) ?? .add
            let query = PropertyList.dictionary(&generator, depth: 2)
            let attributes = operation == .update ? ["labl": PropertyList.random(&generator, depth: 3)] : [:]
            let request = ItemRequest(operation, query: query, attributes: attributes, accessGroups: ["a", "b"])
            var list = Array(try RequestFrame.head(of: request, secretCount: 0).dropFirst(FrameHeader.byteCount))
            #expect(try ItemRequest(list: list) == request)
            Mutation.apply(to: &list, &generator)
            if (try? ItemRequest(list: list)) != nil { valid += 1 }
        }
        #expect((Self.cases / 100..<Self.cases).contains(valid), "\(valid)")
    }

    @Test("responses, split at random")
    func responses() throws {
        var generator = SeededGenerator(seed: 0xCAFE)
        var complete = 0
        for _ in 0..<Self.cases {
            let entries = (0..<Int.random(in: 0..<4, using: &generator)).map { _ in
                PropertyList.random(&generator, depth: 3)
            }
            let secret = [UInt8](repeating: 9, count: Int.random(in: 0..<70, using: &generator))
            var bytes = try ResponseFrame.head(entries: entries, counts: [secret.count], ending: nil) + secret
            bytes += try ResponseFrame.head(entries: [], counts: [], ending: ResponseStatus(status: 0))
            Mutation.apply(to: &bytes, &generator)
            if try status(of: bytes, &generator) != nil { complete += 1 }
        }
        #expect((Self.cases / 100..<Self.cases).contains(complete), "\(complete)")
    }

    private func status(of bytes: [UInt8], _ generator: inout SeededGenerator) throws -> Int32? {
        var reader = ResponseReader()
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + Int.random(in: 1..<200, using: &generator))
            do throws(FrameError) {
                try reader.append(Array(bytes[start..<end]).rawSpan) { frame in
                    #expect(frame.secrets().count == frame.secretCount)
                }
            } catch {
                return nil
            }
            start = end
        }
        return reader.status
    }
}

extension PropertyList {
    fileprivate var containsNaN: Bool {
        switch self {
        case .real(let number), .date(let number): number.isNaN
        case .array(let values): values.contains(where: \.containsNaN)
        case .dictionary(let values): values.values.contains(where: \.containsNaN)
        default: false
        }
    }
}
