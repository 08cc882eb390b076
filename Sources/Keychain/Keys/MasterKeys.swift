package import SecretCrypto

/// One set of the keys of the store itself, kept from the first unlock until the daemon exits.
package final class MasterKeys: Sendable {
    /// The size of a set in bytes: lookup, directory, row-MAC and past key of 32 bytes each, in this order, and 128
    /// random bytes without a use yet.
    static let byteCount = 256
    static let lookupRange = 0..<32

    /// The generation, from 1.
    package let generation: Int64
    /// The key of lookup tags of items and directories, the same in every set.
    package let lookup: RevocableSecret
    /// The key of directory names.
    package let directory: RevocableSecret
    /// The key of the MACs of rows that were sealed while locked.
    package let rowMAC: RevocableSecret
    /// The key of the records of past values.
    package let past: RevocableSecret

    /// Creates the keys of a set.
    ///
    /// - Throws: `invalidParameter` if `range` is not ``byteCount`` bytes of the material.
    init(_ material: borrowing SecretBytes, _ range: Range<Int>, generation: Int64) throws(CryptoError) {
        guard range.count == Self.byteCount else { throw .invalidParameter }
        let start = range.lowerBound
        func key(_ part: Range<Int>) throws(CryptoError) -> RevocableSecret {
            RevocableSecret(try material.slice(part.lowerBound + start..<part.upperBound + start))
        }
        self.generation = generation
        lookup = try key(Self.lookupRange)
        directory = try key(32..<64)
        rowMAC = try key(64..<96)
        past = try key(96..<128)
    }

    /// Wipes all keys. Returns when no thread uses them.
    func revoke() { for key in [lookup, directory, rowMAC, past] { key.revoke() } }
}
