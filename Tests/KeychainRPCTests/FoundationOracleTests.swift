import Foundation
import KeychainRPC
import KeychainTesting
import TestSupport
import Testing

@Suite("Binary property lists as Foundation reads and writes them")
struct FoundationOracleTests {
    @Test("Foundation decodes the encoded lists to the same values", arguments: 0..<50)
    func written(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let value = PropertyList.random(&generator)
            let bytes = try value.binary()
            let found = try PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: nil)
            #expect(NSArray(array: [found]).isEqual(NSArray(array: [value.object])), "\(value)")
            #expect(try PropertyList(binary: bytes) == value)
        }
    }

    @Test("what Foundation writes, is read here as the same", arguments: 50..<100)
    func read(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let value = PropertyList.random(&generator)
            let data = try PropertyListSerialization.data(fromPropertyList: value.object, format: .binary, options: 0)
            #expect(try PropertyList(binary: Array(data)) == value)
        }
    }

    @Test("texts keep their bytes: composed and decomposed letters are not the same")
    func normalization() throws {
        let texts = ["é", "e\u{301}", "Å", "\u{212B}"]
        let list = PropertyList.array(texts.map { .dictionary([$0: .string($0)]) })
        guard case .array(let found) = try PropertyList(binary: list.binary()) else {
            Issue.record("no array")
            return
        }
        let pairs = found.map { value -> [[UInt8]] in
            guard case .dictionary(let values) = value, let (key, text) = values.first, case .string(let text) = text
            else { return [] }
            return [Array(key.utf8), Array(text.utf8)]
        }
        #expect(pairs == texts.map { [Array($0.utf8), Array($0.utf8)] })
    }
}

extension PropertyList {
    /// The value as Foundation represents it.
    fileprivate var object: NSObject {
        switch self {
        case .string(let text): NSString(string: text)
        case .data(let bytes): NSData(data: Data(bytes))
        case .integer(let number): NSNumber(value: number)
        case .real(let number): NSNumber(value: number)
        case .boolean(let flag): NSNumber(value: flag)
        case .date(let seconds): NSDate(timeIntervalSinceReferenceDate: seconds)
        case .array(let values): NSArray(array: values.map(\.object))
        case .dictionary(let values): NSDictionary(dictionary: values.mapValues(\.object))
        case .null, .secret, .object: NSNull()
        }
    }
}
