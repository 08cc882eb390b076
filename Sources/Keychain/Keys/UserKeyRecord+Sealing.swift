import SecretCrypto

/// Past user keys lie under the present one alone: a rotation seals them all anew (contract, S3, L5).
extension UserKeyRecord {
    /// `generation` is the past key's, `present` the one of the key that seals it.
    init(
        sealing past: borrowing SecretBytes, generation: Int64, under userKey: borrowing SecretBytes, present: Int64,
        store: [UInt8]
    ) throws(CryptoError) {
        let key = try BLAKE2b.derive(key: userKey, parts: [KeyLabel.pastUserKeyWrapping, store])
        let bound = Self.binding(generation, present: present, store: store)
        self.init(generation: generation, key: try Sealed.sealing(past.bytes, key: key, bound: bound))
    }

    /// The past user key; `authenticationFailed` unless the present one sealed it for this store and generation.
    func userKey(
        openedBy userKey: borrowing SecretBytes, present: Int64, store: [UInt8]
    ) throws(CryptoError) -> SecretBytes {
        let wrapping = try BLAKE2b.derive(key: userKey, parts: [KeyLabel.pastUserKeyWrapping, store])
        let bound = Self.binding(generation, present: present, store: store)
        return try key.open(key: wrapping, bound: bound, count: AEAD.keyCount)
    }

    private static func binding(_ generation: Int64, present: Int64, store: [UInt8]) -> AssociatedData {
        AssociatedData(.pastUserKey, store: store).adding(generation, present)
    }
}
