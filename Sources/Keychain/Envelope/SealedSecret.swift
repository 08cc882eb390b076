package import SecretCrypto
import Synchronization

/// The contents of an item as an open descriptor keeps them: ciphertext, opened chunk by chunk at each read.
///
/// One value for ever, whatever becomes of the item (contract, F3). Its key is the class key, which a lock takes
/// away; of WhenUnlockedUnlessOpen it is a key of this item alone, which goes when this object goes.
package final class SealedSecret: Sendable {
    /// Bytes of the contents.
    package let count: Int
    private let ciphertext: [UInt8]
    private let noncesAndTags: [NonceAndTag]
    private let bound: AssociatedData
    private let key: RevocableSecret
    private let charge = Mutex<MemoryCharge?>(nil)

    /// `decode` unless seals and ciphertext are as many as contents of `count` bytes have.
    init(
        count: Int, ciphertext: [UInt8], noncesAndTags: [NonceAndTag], bound: AssociatedData, key: RevocableSecret
    ) throws(KeychainFault) {
        guard ciphertext.count == Padding.paddedCount(count), noncesAndTags.count == SecretChunks.count(for: count)
        else {
            throw .decode
        }
        self.count = count
        self.ciphertext = ciphertext
        self.noncesAndTags = noncesAndTags
        self.bound = bound
        self.key = key
    }

    /// Whether it can stand for another one: the same sealed value (nonces are never used twice), that can be read.
    package func isInterchangeable(with other: SealedSecret) -> Bool {
        count == other.count && noncesAndTags == other.noncesAndTags && isAvailable
    }

    /// Charges its memory as long as it exists: once, to the first who keeps it.
    ///
    /// - Throws: `overBudget`.
    package func reserve(in share: MemoryBudget.Share) throws(CryptoError) {
        try charge.withLock { (charge) throws(CryptoError) in
            if charge == nil { charge = try share.reserve(ciphertext.count) }
        }
    }

    /// Whether it can be read now. May change at any time.
    var isAvailable: Bool { key.isAvailable }

    /// Reads from `offset` into the first bytes of `output`; returns how many, 0 from the end on. What follows them
    /// in `output` may have been zeroed.
    ///
    /// - Throws: `interactionNotAllowed` once the class is locked, `decode` if a chunk is not what was sealed,
    ///   `allocate`, `param` for a negative offset. `output` is then zero.
    package func read(at offset: Int, into output: inout MutableRawSpan) throws(KeychainFault) -> Int {
        guard offset >= 0 else { throw .param }
        // Also where there is nothing to decrypt: after a lock no read answers (contract, L2).
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

    /// Opens every chunk, one after the other, and forgets it: also what no read would look at.
    ///
    /// - Throws: as ``read(at:into:)``.
    func verify() throws(KeychainFault) {
        var slab = try KeychainFault.translating { () throws(CryptoError) in
            try SecretBytes(count: min(ciphertext.count, SecretChunks.size))
        }
        for chunk in noncesAndTags.indices {
            var output = slab.mutableBytes
            try open(chunk, SecretChunks.range(of: chunk, in: ciphertext.count), into: &output)
        }
    }

    /// Reads what one chunk has of it; returns how many bytes.
    private func readChunk(at offset: Int, into output: inout MutableRawSpan) throws(KeychainFault) -> Int {
        let chunk = offset / SecretChunks.size
        let range = SecretChunks.range(of: chunk, in: ciphertext.count)
        let end = min(range.upperBound, count)
        if offset == range.lowerBound, output.byteCount >= range.count {
            // Straight to where it is wanted; padding of the last chunk lands behind the contents.
            try open(chunk, range, into: &output)
            return end - offset
        }
        do throws(CryptoError) {
            var slab = try SecretBytes(count: range.count)
            var plaintext = slab.mutableBytes
            try openRaw(chunk, range, into: &plaintext)
            return output.write(slab.bytes.extracting(offset - range.lowerBound..<end - range.lowerBound))
        } catch {
            throw KeychainFault(error)
        }
    }

    private func open(
        _ chunk: Int, _ range: Range<Int>, into output: inout MutableRawSpan
    ) throws(KeychainFault) {
        do throws(CryptoError) { try openRaw(chunk, range, into: &output) } catch { throw KeychainFault(error) }
    }

    private func openRaw(
        _ chunk: Int, _ range: Range<Int>, into output: inout MutableRawSpan
    ) throws(CryptoError) {
        let data = bound.adding(Int64(chunk), Int64(noncesAndTags.count)).bytes
        let ciphertext = ciphertext
        let source = ciphertext.rawSpan.extracting(range)
        try key.use { (key) throws(CryptoError) in
            try AEAD.open(source, nonceAndTag: noncesAndTags[chunk], key: key, associatedData: data, into: &output)
        }
    }
}

extension SealedSecret: SecretSource {
    package var secretCount: Int { count }

    package func readSecret(at offset: Int, into output: inout MutableRawSpan) throws(KeychainFault) -> Int {
        try read(at: offset, into: &output)
    }
}
