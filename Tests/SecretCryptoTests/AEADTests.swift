import SecretCrypto
import TestSupport
import Testing

@Suite struct AEADTests {
    /// draft-irtf-cfrg-xchacha-03, A.3.1.
    private static let sunscreen = Array(
        "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."
            .utf8)
    private static let data = hex("50515253c0c1c2c3c4c5c6c7")
    private static let ciphertext = hex(
        """
        bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c2
        16cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff921f9664c97637da9768812f615c6
        8b13b52e
        """)
    private static let nonceAndTag = hex(
        "404142434445464748494a4b4c4d4e4f5051525354555657 c0875924c1c7987947deafd8780acf49")

    @Test("S2: opens the vector of draft-irtf-cfrg-xchacha A.3.1")
    func vector() throws {
        let nonceAndTag = try #require(NonceAndTag(bytes: Self.nonceAndTag))
        let key = try secret(Array(0x80...0x9f))
        let opened = try AEAD.open(
            Self.ciphertext.rawSpan, nonceAndTag: nonceAndTag, key: key, associatedData: Self.data)
        #expect(plain(opened) == Self.sunscreen)
    }

    @Test("S2: sealed data of every size opens to itself", arguments: [0, 1, 31, 32, 64, 65, 4096, 131_072])
    func roundTrip(count: Int) throws {
        var generator = SeededGenerator(seed: UInt64(count))
        let message = generator.bytes(count)
        let key = try SecretBytes(randomCount: AEAD.keyCount)
        let sealed = try AEAD.seal(message.rawSpan, key: key, associatedData: [1, 2])
        #expect(sealed.ciphertext.count == count)
        #expect(count < 16 || sealed.ciphertext != message)
        let opened = try AEAD.open(
            sealed.ciphertext.rawSpan, nonceAndTag: sealed.nonceAndTag, key: key, associatedData: [1, 2])
        #expect(plain(opened) == message)
    }

    @Test("S4: a changed bit of nonce, tag, ciphertext, data or key is found, and nothing is given out")
    func tampering() throws {
        let message = Array("attack at dawn".utf8)
        let keyBytes = [UInt8](1...32)
        let data: [UInt8] = [9, 8, 7]
        let sealed = try AEAD.seal(message.rawSpan, key: secret(keyBytes), associatedData: data)
        let parts = [sealed.nonceAndTag.bytes, sealed.ciphertext, data, keyBytes]
        for part in parts.indices {
            for position in parts[part].indices {
                for bit in 0..<8 {
                    var changed = parts
                    changed[part][position] ^= 1 << UInt8(bit)
                    try expectRefusal(changed)
                }
            }
        }
        try expectRefusal([parts[0], Array(parts[1].dropLast()), parts[2], parts[3]])
        try expectRefusal([parts[0], parts[1] + [0], parts[2], parts[3]])
        try expectRefusal([parts[0], parts[1], parts[2] + [0], parts[3]])
    }

    private func expectRefusal(_ parts: [[UInt8]]) throws {
        let nonceAndTag = try #require(NonceAndTag(bytes: parts[0]))
        let key = try secret(parts[3])
        let ciphertext = parts[1]
        var output = try SecretBytes(copying: [UInt8](repeating: 0xAA, count: parts[1].count).rawSpan)
        let refusal = failure {
            var span = output.mutableBytes
            try AEAD.open(
                ciphertext.rawSpan, nonceAndTag: nonceAndTag.bytes.rawSpan, key: key, associatedData: parts[2],
                into: &span)
        }
        #expect(refusal == .authenticationFailed)
        #expect(plain(output) == [UInt8](repeating: 0, count: parts[1].count))
    }

    @Test("S2: a nonce is new each time, also across refills of the pool and threads")
    func nonces() async throws {
        let nonces = try await withThrowingTaskGroup(of: [[UInt8]].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let key = try SecretBytes(randomCount: AEAD.keyCount)
                    return try (0..<1000).map { _ in
                        let message: [UInt8] = [1]
                        let nonceAndTag = try AEAD.seal(message.rawSpan, key: key, associatedData: []).nonceAndTag
                        return Array(nonceAndTag.bytes.prefix(24))
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(nonces).count == 4000)
        // 96000 uniform bytes: each value about 375 times; 150 is 11 standard deviations off.
        var histogram = [Int](repeating: 0, count: 256)
        for byte in nonces.joined() { histogram[Int(byte)] += 1 }
        #expect(histogram.allSatisfy { $0 > 150 && $0 < 600 })
    }

    @Test("keys, seals and outputs of another size are refused") func sizes() throws {
        let message: [UInt8] = [1, 2, 3]
        let short = try SecretBytes(randomCount: 31)
        #expect(throws: CryptoError.invalidParameter) {
            _ = try AEAD.seal(message.rawSpan, key: short, associatedData: [])
        }
        let key = try SecretBytes(randomCount: 32)
        let sealed = try AEAD.seal(message.rawSpan, key: key, associatedData: [])
        #expect(throws: CryptoError.invalidParameter) {
            _ = try AEAD.open(
                sealed.ciphertext.rawSpan, nonceAndTag: sealed.nonceAndTag, key: short, associatedData: [])
        }
        for (size, seal) in [(2, sealed.nonceAndTag.bytes), (3, Array(sealed.nonceAndTag.bytes.dropLast()))] {
            var output = try SecretBytes(count: size)
            let refusal = failure {
                var span = output.mutableBytes
                try AEAD.open(
                    sealed.ciphertext.rawSpan, nonceAndTag: seal.rawSpan, key: key, associatedData: [], into: &span)
            }
            #expect(refusal == .invalidParameter)
        }
    }

    @Test func sealsHaveFortyBytes() {
        let bytes = [UInt8](0..<40)
        #expect(NonceAndTag(bytes: bytes)?.bytes == bytes)
        #expect(NonceAndTag(bytes: (bytes + [1])[0..<40])?.bytes == bytes)
        let fromSpan = NonceAndTag(bytes: bytes.rawSpan)
        #expect(fromSpan?.bytes == bytes)
        #expect(NonceAndTag(bytes: bytes + [1]) == nil)
        #expect(NonceAndTag(bytes: bytes[1...]) == nil)
        #expect(NonceAndTag(bytes: []) == nil)
    }
}
