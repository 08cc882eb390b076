import SecretCrypto
import Testing

@Suite struct RandomTests {
    @Test func countsAndDifference() throws {
        #expect(SecureRandom.bytes(0).isEmpty)
        #expect(SecureRandom.bytes(-1).isEmpty)
        let samples = (0..<100).map { _ in SecureRandom.bytes(16) }
        #expect(samples.allSatisfy { $0.count == 16 })
        #expect(Set(samples).count == 100)
        try Sodium.start()
        try Sodium.start()
    }
}
