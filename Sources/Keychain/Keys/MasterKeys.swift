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
    /// The header row and the digest in it.
    package let digest: RevocableSecret
    /// Rows that were sealed while locked.
    package let rowMAC: RevocableSecret

    /// From the wrapped bytes; `invalidParameter` if there are too few.
    init(material: borrowing SecretBytes) throws(CryptoError) {
        guard material.count == Self.byteCount else { throw .invalidParameter }
        lookup = RevocableSecret(try material.slice(0..<32))
        directory = RevocableSecret(try material.slice(32..<64))
        digest = RevocableSecret(try material.slice(64..<96))
        rowMAC = RevocableSecret(try material.slice(96..<128))
    }

    /// Wipes all four; returns when their users are done.
    func revoke() {
        for key in [lookup, directory, digest, rowMAC] { key.revoke() }
    }
}

extension MasterKeys {
    /// Seals the keys' bytes under a user key.
    static func wrap(
        _ material: borrowing SecretBytes, userKey: borrowing SecretBytes, store: [UInt8], generation: Int64
    ) throws(CryptoError) -> Sealed {
        let key = try BLAKE2b.derive(key: userKey, parts: [KeyLabel.masterKeyWrapping, store])
        let bound = AssociatedData(.masterKeys, store: store).adding(generation)
        let (seal, ciphertext) = try AEAD.seal(material.bytes, key: key, associatedData: bound.bytes)
        return Sealed(seal: seal, ciphertext: ciphertext)
    }

    /// The keys of a store; `authenticationFailed` unless this user key sealed them for it.
    static func unwrap(_ record: StoreRecord, userKey: borrowing SecretBytes) throws(CryptoError) -> MasterKeys {
        let key = try BLAKE2b.derive(key: userKey, parts: [KeyLabel.masterKeyWrapping, record.identifier])
        let bound = AssociatedData(.masterKeys, store: record.identifier).adding(record.userKeyGeneration)
        let material = try AEAD.open(
            record.masterKeys.ciphertext.rawSpan, seal: record.masterKeys.seal, key: key,
            associatedData: bound.bytes)
        return try MasterKeys(material: material)
    }
}
