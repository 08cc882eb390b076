import SecretCrypto

/// Contents are sealed in chunks, so that a read opens only what it touches and needs one slab at a time.
///
/// The contents are padded as a whole, then cut; each chunk has its own nonce and tag, with its index and the number
/// of chunks bound to it, so that chunks cannot be swapped, dropped or cut off.
enum SecretChunks {
    /// Plain bytes of a whole chunk.
    static let size = 64 << 10

    /// Chunks of contents of that count; none for an item without contents, one for empty contents.
    static func count(for secretCount: Int?) -> Int {
        guard let secretCount else { return 0 }
        let padded = Padding.paddedCount(secretCount)
        return padded / size + (padded % size == 0 ? 0 : 1)
    }

    /// Where a chunk lies in the padded contents and, as ciphers add nothing, in their ciphertext.
    static func range(of chunk: Int, in paddedCount: Int) -> Range<Int> {
        chunk * size..<min(paddedCount, (chunk + 1) * size)
    }

    /// Seals all of `source` through one slab.
    static func seal(
        _ source: borrowing some SecretSource & ~Copyable & ~Escapable, key: RevocableSecret, bound: AssociatedData
    ) throws(KeychainFault) -> (noncesAndTags: [NonceAndTag], ciphertext: [UInt8]) {
        let padded = Padding.paddedCount(source.secretCount)
        let chunks = count(for: source.secretCount)
        var slab = try KeychainFault.translating { () throws(CryptoError) in
            try SecretBytes(count: min(padded, size))
        }
        var noncesAndTags: [NonceAndTag] = []
        var ciphertext: [UInt8] = []
        ciphertext.reserveCapacity(padded)
        for chunk in 0..<chunks {
            let range = range(of: chunk, in: padded)
            try fill(&slab, from: source, range: range)
            let sealed = try self.seal(
                slab.bytes.extracting(0..<range.count), key: key,
                bound: bound.adding(Int64(chunk), Int64(chunks)))
            noncesAndTags.append(sealed.nonceAndTag)
            ciphertext += sealed.ciphertext
        }
        return (noncesAndTags, ciphertext)
    }

    /// The bytes of one chunk: contents, then zeros.
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
            // It has become shorter under our hands.
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
