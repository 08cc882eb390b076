package import SecretCrypto

/// The keys of the store itself, kept from the first unlock until the daemon exits.
///
/// Generated with the store. A new user key wraps the same keys.
package final class MasterKeys: Sendable {
    /// The size of the wrapped keys in bytes: lookup, directory, row-MAC and past key of 32 bytes each, in this order,
    /// and 128 random bytes without a use yet.
    package static let byteCount = 256

    /// The generation, from 1.
    package let generation: Int64
    /// The key of lookup tags of items and directories.
    package let lookup: RevocableSecret
    /// The key of directory names.
    package let directory: RevocableSecret
    /// The key of the MACs of rows that were sealed while locked.
    package let rowMAC: RevocableSecret
    /// The key of the records of past values.
    package let past: RevocableSecret

    /// Creates keys from the unwrapped bytes.
    ///
    /// - Throws: `invalidParameter` for another number of bytes.
    init(material: borrowing SecretBytes, generation: Int64) throws(CryptoError) {
        guard material.count == Self.byteCount else { throw .invalidParameter }
        self.generation = generation
        lookup = RevocableSecret(try material.slice(0..<32))
        directory = RevocableSecret(try material.slice(32..<64))
        rowMAC = RevocableSecret(try material.slice(64..<96))
        past = RevocableSecret(try material.slice(96..<128))
    }

    /// Wipes all keys. Returns when no thread uses them.
    func revoke() { for key in [lookup, directory, rowMAC, past] { key.revoke() } }
}

extension MasterKeys {
    /// Wraps the keys' bytes under a user key, for the generations of a record.
    static func wrap(
        _ material: borrowing SecretBytes, userKey: borrowing SecretBytes, for record: StoreRecord
    ) throws(CryptoError) -> Sealed {
        let key = try BLAKE2b.derive(key: userKey, parts: [KeyLabel.masterKeyWrapping, record.identifier])
        return try Sealed.sealing(material.bytes, key: key, bound: binding(record))
    }

    /// Unwraps the keys of a store.
    ///
    /// - Throws: `authenticationFailed` unless this user key wrapped them for the store.
    static func unwrap(_ record: StoreRecord, userKey: borrowing SecretBytes) throws(CryptoError) -> MasterKeys {
        try MasterKeys(
            material: material(record, userKey: userKey), generation: record.masterKeyGeneration)
    }

    /// Unwraps the bytes of the keys, for wrapping under another user key.
    ///
    /// - Throws: `authenticationFailed` as ``unwrap(_:userKey:)``.
    static func material(_ record: StoreRecord, userKey: borrowing SecretBytes) throws(CryptoError) -> SecretBytes {
        let key = try BLAKE2b.derive(key: userKey, parts: [KeyLabel.masterKeyWrapping, record.identifier])
        return try record.masterKeys.open(
            key: key, bound: binding(record), count: byteCount)
    }

    /// Returns the associated data. They include the format, so that these keys cannot be opened in a file of another
    /// one.
    static func binding(_ record: StoreRecord) -> AssociatedData {
        AssociatedData(.masterKeys, store: record.identifier)
            .adding(Int64(StoreRecord.currentFormat), record.userKeyGeneration, record.masterKeyGeneration)
    }
}
