import SecretCrypto

/// The seals of the chunks of a secret, in order: for each chunk nonce and tag (40 bytes) and the BLAKE2b hash of its ciphertext
/// (32 bytes; store-format.md, section 6). Empty for an item without a secret.
///
/// The hash is unkeyed, because a process that once knew the key of the secret can find another ciphertext for the same nonce and
/// tag, but not for the same hash. The row covers the seals, and so the secret.
package struct ChunkSeals: Hashable, Sendable {
    /// The size of the seal of one chunk in bytes.
    package static let sealCount = NonceAndTag.byteCount + hashCount
    private static let hashCount = 32

    /// The column of the row: ``sealCount`` bytes for each chunk, without separators.
    package private(set) var bytes: [UInt8] = []

    /// Creates the seals of an item without a secret.
    package init() {}

    /// Creates seals from the bytes of the column; nil unless their number is a multiple of ``sealCount``.
    package init?(bytes: [UInt8]) {
        guard bytes.count.isMultiple(of: Self.sealCount) else { return nil }
        self.bytes = bytes
    }

    /// The number of chunks.
    package var count: Int { bytes.count / Self.sealCount }

    /// Adds the seal of the next chunk.
    package mutating func append(_ chunk: Sealed) {
        bytes += chunk.nonceAndTag.bytes
        bytes += BLAKE2b.hash(chunk.ciphertext, count: Self.hashCount)
    }

    /// Returns the range of nonce and tag of a chunk in ``bytes``.
    package static func nonceAndTag(of chunk: Int) -> Range<Int> {
        let start = chunk * sealCount
        return start..<start + NonceAndTag.byteCount
    }

    /// Requires that the ciphertext of a chunk has the hash in its seal.
    ///
    /// - Throws: `decode`.
    package func verify(_ chunk: Int, ciphertext: RawSpan) throws(KeychainFault) {
        guard chunk >= 0, chunk < count else { throw .decode }
        let end = (chunk + 1) * Self.sealCount
        let hash = BLAKE2b.hash(ciphertext, count: Self.hashCount)
        guard bytes[end - Self.hashCount..<end].elementsEqual(hash) else { throw .decode }
    }
}
