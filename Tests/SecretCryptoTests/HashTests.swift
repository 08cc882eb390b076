import SecretCrypto
import Testing

/// Vectors of keyed hashes over framed parts come from an independent implementation, Python's hashlib.
@Suite struct HashTests {
    private let key = [UInt8](0..<32)

    @Test("T2: BLAKE2b as in RFC 7693, appendix A")
    func rfc7693() {
        let expected = hex(
            """
            ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5de4533cc9518d38aa8dbf192
            5ab92386edd4009923
            """)
        #expect(BLAKE2b.hash(Array("abc".utf8), count: 64) == expected)
        let abc = Array("abc".utf8)
        let hash = BLAKE2b.hash(abc.rawSpan, count: 64)
        #expect(hash == expected)
    }

    @Test("T2: the 128-bit hash of names, of nothing and of something")
    func shortHashes() {
        #expect(BLAKE2b.hash([], count: 16) == hex("cae66941d9efbd404e4d88758ea67670"))
        #expect(
            BLAKE2b.hash(Array("keychainfs".utf8), count: 32)
                == hex("8d60d38c3cf694c409a3fad0cf1a56cf4e1f17b01a8e04c416e40a26bcf52613"))
        #expect(BLAKE2b.hash([], count: 1).count == 16)
        #expect(BLAKE2b.hash([], count: 1000).count == 64)
    }

    @Test("S2: the first keyed vector of the reference implementation (blake2b-kat)")
    func keyedVector() throws {
        let mac = try BLAKE2b.mac(key: secret(Array(0..<64)), parts: [], count: 64)
        let expected = hex(
            """
            10ebb67700b1868efb4417987acf4690ae9d972fb7a590c2f02871799aaa4786b5e996e8f0f4eb981fc214b005f42d2ff4233499391653
            df7aefcbc13fc51568
            """)
        #expect(mac == expected)
    }

    @Test("S2: parts are framed by eight bytes of count, little endian")
    func framing() throws {
        let parts: [[UInt8]] = [Array("abc".utf8), [], Array("defg".utf8)]
        let expected = hex("115c4695fe3235bd76864644031ea241fd2033c7f9a607f3dda08356993b703f")
        #expect(try BLAKE2b.mac(key: secret(key), parts: parts, count: 32) == expected)
        let long = hex(
            """
            f24dc759d86bf73cc0e8095731d088302bcb6acd09289a95933d21c2914c8d76c2f8ec8c94a03ace14d8917d0ca2e8d6bc16561a50cd5a
            b7045a251d42982dc1
            """)
        #expect(try BLAKE2b.mac(key: secret(Array(0..<64)), parts: [Array(0...255)], count: 64) == long)
        let derived = try BLAKE2b.derive(key: secret(key), parts: parts)
        #expect(plain(derived) == expected)
    }

    @Test("S2: bytes cannot be shifted from one part into the next")
    func shifting() throws {
        let splits: [[[UInt8]]] = [
            [[1, 2], [3]], [[1], [2, 3]], [[1, 2, 3]], [[1, 2, 3], []], [[], [1, 2, 3]],
        ]
        let macs = try splits.map { try BLAKE2b.mac(key: secret(key), parts: $0, count: 16) }
        #expect(Set(macs).count == splits.count)
    }

    @Test("S3: further secrets are hashed like parts")
    func secrets() throws {
        let other = try secret([UInt8](repeating: 7, count: 32))
        let expected = hex("7454b4c3c282552aee928653335418d8e29c05804c1f0a44e770f0002567d031")
        let derived = try BLAKE2b.derive(
            key: secret(key), label: Array("label".utf8), secret: other, parts: [Array("part".utf8)])
        #expect(plain(derived) == expected)
        var hash = try KeyedHash(key: secret(key), count: 32)
        hash.update(part: Array("label".utf8))
        hash.update(secret: other)
        hash.update(part: Array("part".utf8))
        #expect(hash.finish() == expected)
    }

    @Test("S3: the state of a keyed hash is in the arena and is wiped with it")
    func state() throws {
        let arena = SecretArena(capacity: 8192)
        let canary = hex("feedfacecafebeef0123456789abcdefdeadbeef00112233445566778899aabb")
        do {
            let key = try secret(canary, in: arena)
            var hash = try KeyedHash(key: key, count: 32)
            #expect(arena.bytesInUse == 32 + 512)
            hash.update(part: [1, 2, 3])
            #expect(hash.finish().count == 32)
            #expect(arena.bytesInUse == 32)
        }
        #expect(arena.bytesInUse == 0)
        #expect(!arena.contains(Array(canary.prefix(8))))
    }

    @Test(arguments: [(15, 32), (65, 32), (32, 15), (32, 65), (0, 32), (32, 0), (32, -1)])
    func refusesSizes(keyCount: Int, count: Int) throws {
        let key = try SecretBytes(randomCount: keyCount)
        #expect(throws: CryptoError.invalidParameter) { _ = try BLAKE2b.mac(key: key, parts: [], count: count) }
        #expect(throws: CryptoError.invalidParameter) { _ = try BLAKE2b.derive(key: key, parts: [], count: count) }
    }
}
