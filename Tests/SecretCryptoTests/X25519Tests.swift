import SecretCrypto
import Testing

@Suite struct X25519Tests {
    /// RFC 7748, 6.1.
    private static let alice = hex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")
    private static let alicePublic = hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
    private static let bob = hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
    private static let bobPublic = hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
    private static let shared = hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")

    @Test("S3: RFC 7748, 6.1: public keys and the shared secret, from both sides")
    func vector() throws {
        let alice = try X25519KeyPair(secretKey: secret(Self.alice))
        let bob = try X25519KeyPair(secretKey: secret(Self.bob))
        #expect(alice.publicKey == Self.alicePublic)
        #expect(bob.publicKey == Self.bobPublic)
        let first = try alice.sharedSecret(with: bob.publicKey)
        let second = try bob.sharedSecret(with: alice.publicKey)
        #expect(plain(first) == Self.shared)
        let areEqual = first.isEqual(to: second)
        #expect(areEqual)
    }

    @Test("S3: points of low order are refused")
    func lowOrder() throws {
        let pair = try X25519KeyPair()
        let points = [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        ]
        for point in points {
            #expect(throws: CryptoError.authenticationFailed) { _ = try pair.sharedSecret(with: hex(point)) }
        }
    }

    @Test func randomPairsDiffer() throws {
        let one = try X25519KeyPair()
        let other = try X25519KeyPair()
        #expect(one.publicKey != other.publicKey)
        let first = try one.sharedSecret(with: other.publicKey)
        let second = try other.sharedSecret(with: one.publicKey)
        let areEqual = first.isEqual(to: second)
        #expect(areEqual)
    }

    @Test func refusesOtherSizes() throws {
        let pair = try X25519KeyPair()
        #expect(throws: CryptoError.invalidParameter) { _ = try pair.sharedSecret(with: [1, 2, 3]) }
        #expect(throws: CryptoError.invalidParameter) {
            _ = try X25519KeyPair(secretKey: SecretBytes(randomCount: 31))
        }
    }
}
