import Testing

@testable import SecretCrypto

@Suite("HMAC")
struct HMACTests {
    private func code(_ key: [UInt8], _ message: [UInt8], _ hash: HMAC.Hash) throws -> String {
        let key = try SecretBytes(copying: key.rawSpan)
        let code = try HMAC.code(of: message, key: key, hash: hash)
        return (0..<code.count).map { hex(code.bytes.octets[$0]) }.joined()
    }

    private func hex(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }

    @Test("E5: SHA-1 of texts of one block, at the boundary of a block, and of a million bytes (FIPS 180-4)")
    func hash() throws {
        let vectors: [([UInt8], String)] = [
            ([], "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            (Array("abc".utf8), "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8),
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
            ),
            ([UInt8](repeating: 0x61, count: 1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
        ]
        for (text, digest) in vectors {
            #expect(try self.digest(Array(text.prefix(7)), Array(text.dropFirst(7))) == digest)
        }
    }

    private func digest(_ first: [UInt8], _ second: [UInt8]) throws -> String {
        var hash = try SHA1()
        hash.update(first.rawSpan)
        hash.update(second.rawSpan)
        let digest = try hash.finish()
        return (0..<digest.count).map { hex(digest.bytes.octets[$0]) }.joined()
    }

    @Test(
        "E5: HMAC-SHA-1 with short, exact and long keys (RFC 2202)",
        arguments: [
            ([UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8), "b617318655057264e28bc0b6fb378c8ef146be00"),
            (
                Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
                "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"
            ),
            (
                [UInt8](repeating: 0xaa, count: 20), [UInt8](repeating: 0xdd, count: 50),
                "125d7342b9ac11cd91a39af48aa17b4f63f175d3"
            ),
            (Array(1...25), [UInt8](repeating: 0xcd, count: 50), "4c9007f4026250c6bc8414f9bf50c86c2d7235da"),
            (
                [UInt8](repeating: 0x0c, count: 20), Array("Test With Truncation".utf8),
                "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04"
            ),
            (
                [UInt8](repeating: 0xaa, count: 80),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                "aa4ae5e15272d00e95705637ce8a3b55ed402112"
            ),
            (
                [UInt8](repeating: 0xaa, count: 80),
                Array("Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data".utf8),
                "e8e99d0f45237d786d6bbaa7965c7808bbff1a91"
            ),
        ] as [([UInt8], [UInt8], String)])
    func sha1(key: [UInt8], message: [UInt8], digest: String) throws {
        #expect(try code(key, message, .sha1) == digest)
    }

    @Test("E5: HMAC with SHA-256 and SHA-512 (RFC 4231)")
    func others() throws {
        let (key, message) = (Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
        #expect(try code(key, message, .sha256) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(
            try code(key, message, .sha512)
                == "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"
        )
    }
}
