import SecretCrypto

/// The division of a secret into chunks, so that a read decrypts only what it needs and uses one slab at a time.
///
/// The secret is padded first and then divided. Each chunk has its own seal, and its index and the number of chunks as
/// associated data, so that chunks cannot be exchanged, dropped or truncated.
package enum SecretChunks {
    /// The size of a full chunk in bytes of plaintext.
    package static let size = 64 << 10

    /// Returns the number of chunks of a secret; 0 for an item without one, 1 for an empty secret.
    package static func count(for secretCount: Int?) -> Int {
        guard let secretCount else { return 0 }
        let padded = Padding.paddedCount(secretCount)
        return padded / size + (padded % size == 0 ? 0 : 1)
    }

    /// Returns the range of a chunk in the padded secret, and in its ciphertext, which has the same size.
    static func range(of chunk: Int, in paddedCount: Int) -> Range<Int> {
        chunk * size..<min(paddedCount, (chunk + 1) * size)
    }

    /// Seals all of `source`, using one slab.
    static func seal(
        _ source: borrowing some SecretSource & ~Copyable & ~Escapable, key: RevocableSecret, bound: AssociatedData
    ) throws(KeychainFault) -> (seals: ChunkSeals, ciphertext: [UInt8]) {
        let padded = Padding.paddedCount(source.secretCount)
        let chunks = count(for: source.secretCount)
        var slab = try KeychainFault.translating { () throws(CryptoError) in
            try SecretBytes(count: min(padded, size))
        }
        var seals = ChunkSeals()
        var ciphertext: [UInt8] = []
        ciphertext.reserveCapacity(padded)
        for chunk in 0..<chunks {
            let range = range(of: chunk, in: padded)
            try fill(&slab, from: source, range: range)
            let sealed = try self.seal(
                slab.bytes.extracting(0..<range.count), key: key,
                bound: bound.adding(Int64(chunk), Int64(chunks)))
            seals.append(sealed)
            ciphertext += sealed.ciphertext
        }
        return (seals, ciphertext)
    }

    /// Requires that the chunks of a ciphertext have the hashes in the seals. Needs no key.
    ///
    /// - Throws: `decode`.
    static func verify(_ ciphertext: [UInt8], _ seals: ChunkSeals) throws(KeychainFault) {
        guard ciphertext.count > (seals.count - 1) * size, ciphertext.count <= seals.count * size else { throw .decode }
        for chunk in 0..<seals.count {
            let range = range(of: chunk, in: ciphertext.count)
            try seals.verify(chunk, ciphertext: ciphertext.rawSpan.extracting(range))
        }
    }

    /// Fills a chunk with bytes of the secret, then zeros.
    private static func fill(
        _ slab: inout SecretBytes, from source: borrowing some SecretSource & ~Copyable & ~Escapable,
        range: Range<Int>
    ) throws(KeychainFault) {
        let wanted = min(range.upperBound, source.secretCount) - min(range.lowerBound, source.secretCount)
        var output = slab.mutableBytes
        var filled = 0
        while filled < wanted {
            var rest = output._mutatingExtracting(filled..<range.count)
            let count = try source.readSecret(at: range.lowerBound + filled, into: &rest)
            // The source has become shorter in the meantime.
            guard count > 0 else { throw .decode }
            filled += count
        }
        output.clear(wanted..<range.count)
    }

    private static func seal(
        _ plaintext: RawSpan, key: RevocableSecret, bound: AssociatedData
    ) throws(KeychainFault) -> Sealed {
        try key.using { (key) throws(CryptoError) in
            try Sealed.sealing(plaintext, key: key, bound: bound)
        }
    }
}
