package import SecretCrypto
import Synchronization

/// The secret of an item as an open descriptor retains it: ciphertext that is decrypted in chunks at each read.
///
/// An immutable value that later changes of the item do not affect (contract, F3). Its key is the class key, which a
/// lock revokes; for WhenUnlockedUnlessOpen a key of this item alone, which is wiped at the end of this object's
/// lifetime.
package final class SealedSecret: Sendable {
    /// The size of the secret in bytes.
    package let count: Int
    private let ciphertext: [UInt8]
    private let seals: ChunkSeals
    private let bound: AssociatedData
    private let key: RevocableSecret
    private let charge = Mutex<MemoryCharge?>(nil)
    /// Whether each chunk of the ciphertext was compared with its seal. One comparison suffices, because the ciphertext does not
    /// change.
    private let isVerified: Mutex<[Bool]>

    /// - Throws: `decode` unless the number of seals and the size of the ciphertext match a secret of `count` bytes.
    init(
        count: Int, ciphertext: [UInt8], seals: ChunkSeals, bound: AssociatedData, key: RevocableSecret
    ) throws(KeychainFault) {
        guard ciphertext.count == Padding.paddedCount(count), seals.count == SecretChunks.count(for: count)
        else { throw .decode }
        self.count = count
        self.ciphertext = ciphertext
        self.seals = seals
        isVerified = Mutex([Bool](repeating: false, count: seals.count))
        self.bound = bound
        self.key = key
    }

    /// Whether this secret can replace another one: it is the same sealed value (nonces are never reused) and can be
    /// read.
    package func isInterchangeable(with other: SealedSecret) -> Bool {
        count == other.count && seals == other.seals && isAvailable
    }

    /// Charges its memory during its lifetime: once, to the first share.
    ///
    /// - Throws: `overBudget`.
    package func reserve(in share: MemoryBudget.Share) throws(CryptoError) {
        try charge.withLock { (charge) throws(CryptoError) in
            if charge == nil { charge = try share.reserve(ciphertext.count) }
        }
    }

    /// Whether the secret can be read now. May change at any time.
    var isAvailable: Bool { key.isAvailable }

    /// Reads from `offset` into the first bytes of `output`. Bytes of `output` after them may have been zeroed.
    ///
    /// - Returns: The number of bytes read; 0 at or after the end.
    /// - Throws: `interactionNotAllowed` after a lock of its class; `decode` if a chunk is not authentic; `allocate`;
    ///   `param` for a negative offset. `output` is zero then.
    package func read(at offset: Int, into output: inout MutableRawSpan) throws(KeychainFault) -> Int {
        guard offset >= 0 else { throw .param }
        // Required even if nothing is decrypted: after a lock every read must fail (contract, L2).
        guard key.isAvailable else { throw .interactionNotAllowed }
        let wanted = min(output.byteCount, count - min(count, offset))
        do throws(KeychainFault) {
            var done = 0
            while done < wanted {
                var rest = output._mutatingExtracting(done..<output.byteCount)
                done += try readChunk(at: offset + done, into: &rest)
            }
        } catch {
            output.clear(0..<output.byteCount)
            throw error
        }
        return wanted
    }

    /// Decrypts every chunk and discards the plaintext, to verify the whole secret.
    ///
    /// - Throws: The errors of ``read(at:into:)``.
    func verify() throws(KeychainFault) {
        var slab = try KeychainFault.translating { () throws(CryptoError) in
            try SecretBytes(count: min(ciphertext.count, SecretChunks.size))
        }
        for chunk in 0..<seals.count {
            let range = SecretChunks.range(of: chunk, in: ciphertext.count)
            var output = slab.mutableBytes
            try open(chunk, range, into: &output)
            try verifyPadding(of: range, output.bytes)
        }
    }

    /// Reads the part of one chunk. Returns the number of bytes.
    private func readChunk(at offset: Int, into output: inout MutableRawSpan) throws(KeychainFault) -> Int {
        let chunk = offset / SecretChunks.size
        let range = SecretChunks.range(of: chunk, in: ciphertext.count)
        let end = min(range.upperBound, count)
        if offset == range.lowerBound, output.byteCount >= range.count {
            // Decrypts directly into the destination; padding of the last chunk follows the secret.
            try open(chunk, range, into: &output)
            try verifyPadding(of: range, output.bytes)
            return end - offset
        }
        var slab = try KeychainFault.translating { () throws(CryptoError) in try SecretBytes(count: range.count) }
        var plaintext = slab.mutableBytes
        try open(chunk, range, into: &plaintext)
        try verifyPadding(of: range, slab.bytes)
        return output.write(slab.bytes.extracting(offset - range.lowerBound..<end - range.lowerBound))
    }

    /// Requires zeros after the end of the secret.
    ///
    /// - Parameter plaintext: Begins with the plaintext of the chunk with that range.
    /// - Throws: `decode`.
    private func verifyPadding(of range: Range<Int>, _ plaintext: RawSpan) throws(KeychainFault) {
        let end = min(range.count, max(0, count - range.lowerBound))
        guard plaintext.extracting(end..<range.count).isZero else { throw .decode }
    }

    private func open(
        _ chunk: Int, _ range: Range<Int>, into output: inout MutableRawSpan
    ) throws(KeychainFault) {
        let ciphertext = ciphertext
        let source = ciphertext.rawSpan.extracting(range)
        try verifySeal(of: chunk, source)
        let seals = seals.bytes
        let nonceAndTag = seals.rawSpan.extracting(ChunkSeals.nonceAndTag(of: chunk))
        let data = bound.adding(Int64(chunk), Int64(self.seals.count)).bytes
        do throws(CryptoError) {
            try key.use { (key) throws(CryptoError) in
                try AEAD.open(source, nonceAndTag: nonceAndTag, key: key, associatedData: data, into: &output)
            }
        } catch {
            throw KeychainFault(error)
        }
    }

    /// Compares a chunk with the hash in its seal, unless that was done before. Without the hash, who once knew the key could have
    /// exchanged the ciphertext under the same nonce and tag.
    ///
    /// - Throws: `decode`.
    private func verifySeal(of chunk: Int, _ ciphertext: RawSpan) throws(KeychainFault) {
        guard !isVerified.withLock({ $0[chunk] }) else { return }
        try seals.verify(chunk, ciphertext: ciphertext)
        isVerified.withLock { $0[chunk] = true }
    }
}

extension SealedSecret: SecretSource {
    package var secretCount: Int { count }

    package func readSecret(at offset: Int, into output: inout MutableRawSpan) throws(KeychainFault) -> Int {
        try read(at: offset, into: &output)
    }
}
