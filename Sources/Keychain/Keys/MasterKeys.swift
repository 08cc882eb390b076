package import SecretCrypto

/// The keys of the store as a whole, kept from the first unlock until the daemon ends.
///
/// Made once, when the store is made; a new user key wraps the same ones.
package final class MasterKeys: Sendable {
    /// Look-up, directory, digest and row-MAC key of 32 bytes each, in this order.
    package static let byteCount = 4 * AEAD.keyCount

    /// Tags of items and directories.
    package let lookup: RevocableSecret
    /// Names of directories.
    package let directory: RevocableSecret
    /// Seals the header row.
    package let header: RevocableSecret
    /// The digest of each row.
    package let rowDigest: RevocableSecret
    /// The MAC of the commit number that is kept outside the store.
    package let commitNumber: RevocableSecret
    /// Rows that were sealed while locked.
    package let rowMAC: RevocableSecret

    /// From the wrapped bytes; `invalidParameter` if there are too few. The digest key itself is used for nothing but to
    /// derive three others.
    init(material: borrowing SecretBytes, store: [UInt8]) throws(CryptoError) {
        guard material.count == Self.byteCount else { throw .invalidParameter }
        lookup = RevocableSecret(try material.slice(0..<32))
        directory = RevocableSecret(try material.slice(32..<64))
        let digest = try material.slice(64..<96)
        header = RevocableSecret(try BLAKE2b.derive(key: digest, parts: [KeyLabel.header, store]))
        rowDigest = RevocableSecret(try BLAKE2b.derive(key: digest, parts: [KeyLabel.rowDigest, store]))
        commitNumber = RevocableSecret(try BLAKE2b.derive(key: digest, parts: [KeyLabel.commitNumber, store]))
        rowMAC = RevocableSecret(try material.slice(96..<128))
    }

    /// Wipes them all; returns when their users are done.
    func revoke() {
        for key in [lookup, directory, header, rowDigest, commitNumber, rowMAC] { key.revoke() }
    }
}

extension MasterKeys {
    /// Seals the keys' bytes under a user key.
    static func wrap(
        _ material: borrowing SecretBytes, userKey: borrowing SecretBytes, store: [UInt8], generation: Int64
    ) throws(CryptoError) -> Sealed {
        let key = try BLAKE2b.derive(key: userKey, parts: [KeyLabel.masterKeyWrapping, store])
        return try Sealed.sealing(material.bytes, key: key, bound: binding(generation, store: store))
    }

    /// The keys of a store; `authenticationFailed` unless this user key sealed them for it.
    static func unwrap(_ record: StoreRecord, userKey: borrowing SecretBytes) throws(CryptoError) -> MasterKeys {
        try MasterKeys(material: material(record, userKey: userKey), store: record.identifier)
    }

    /// Their bytes, to be wrapped under another user key; `authenticationFailed` as ``unwrap(_:userKey:)``.
    static func material(_ record: StoreRecord, userKey: borrowing SecretBytes) throws(CryptoError) -> SecretBytes {
        let key = try BLAKE2b.derive(key: userKey, parts: [KeyLabel.masterKeyWrapping, record.identifier])
        return try record.masterKeys.open(
            key: key, bound: binding(record.userKeyGeneration, store: record.identifier), count: byteCount)
    }

    /// The format is part of it: keys of this one open in no file that claims another.
    static func binding(_ generation: Int64, store: [UInt8]) -> AssociatedData {
        AssociatedData(.masterKeys, store: store).adding(Int64(StoreRecord.currentFormat), generation)
    }
}
