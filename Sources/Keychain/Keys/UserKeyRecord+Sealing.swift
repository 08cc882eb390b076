import SecretCrypto

/// Seals past user keys under the present one. A rotation reseals all of them (contract, S3, L5).
extension UserKeyRecord {
    /// Seals a past user key.
    ///
    /// - Parameters:
    ///   - generation: The generation of the past key.
    ///   - present: The generation of the key that seals it.
    init(
        sealing past: borrowing SecretBytes, generation: Int64, under userKey: borrowing SecretBytes, present: Int64,
        store: [UInt8]
    ) throws(CryptoError) {
        let key = try BLAKE2b.derive(key: userKey, parts: [KeyLabel.pastUserKeyWrapping, store])
        let bound = Self.binding(generation, present: present, store: store)
        self.init(generation: generation, key: try Sealed.sealing(past.bytes, key: key, bound: bound))
    }

    /// Opens the past user key.
    ///
    /// - Throws: `authenticationFailed` unless the present one sealed it for this store and generation.
    func userKey(
        openedBy userKey: borrowing SecretBytes, present: Int64, store: [UInt8]
    ) throws(CryptoError) -> SecretBytes {
        let wrapping = try BLAKE2b.derive(key: userKey, parts: [KeyLabel.pastUserKeyWrapping, store])
        let bound = Self.binding(generation, present: present, store: store)
        return try key.open(key: wrapping, bound: bound, count: AEAD.keyCount)
    }

    static func binding(_ generation: Int64, present: Int64, store: [UInt8]) -> AssociatedData {
        AssociatedData(.pastUserKey, store: store).adding(generation, present)
    }
}
