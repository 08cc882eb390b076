import SecretCrypto
import Testing

@Suite("Bytes in spans")
struct SpanTests {
    @Test("a subsequence is found at any position, including both ends, and only completely")
    func contains() {
        let bytes: [UInt8] = [1, 1, 2, 3]
        for part: [UInt8] in [[], [1], [3], [1, 2], [1, 1, 2, 3], [2, 3]] {
            #expect(Self.isPart(part, of: bytes), "\(part)")
        }
        for part: [UInt8] in [[4], [2, 1], [3, 4], [1, 1, 1], [1, 1, 2, 3, 4]] {
            #expect(!Self.isPart(part, of: bytes), "\(part)")
        }
        let none: [UInt8] = []
        #expect(Self.isPart([], of: none) && !Self.isPart([0], of: none))
    }

    private static func isPart(_ part: [UInt8], of bytes: [UInt8]) -> Bool { bytes.rawSpan.contains(part) }
}
