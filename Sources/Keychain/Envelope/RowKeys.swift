import SecretCrypto

/// The keys of one row, whichever way they are come by.
struct RowKeys {
    /// What an ephemeral pair and the class's pair have in common (contract, S3).
    struct KeyAgreement {
        let shared: RevocableSecret
        let ephemeral: [UInt8]
        let classKey: [UInt8]
    }

    let classKeys: ClassKeys
    /// WhenUnlockedUnlessOpen, sealed while locked; nil for everything else.
    let exchange: KeyAgreement?

    var generation: Int64 { classKeys.generation }

    /// For a row that is sealed anew: the class keys, or while UnlessOpen is locked an ephemeral pair.
    static func sealing(_ protection: ProtectionClass, ring: KeyRing) throws(KeychainFault) -> RowKeys {
        let keys = try ring.currentKeys(for: protection)
        guard let classKey = keys.publicKey, !keys.isAvailable else { return RowKeys(classKeys: keys, exchange: nil) }
        do throws(CryptoError) {
            let pair = try X25519KeyPair()
            let exchange = KeyAgreement(
                shared: RevocableSecret(try pair.sharedSecret(with: classKey)), ephemeral: pair.publicKey,
                classKey: classKey)
            return RowKeys(classKeys: keys, exchange: exchange)
        } catch {
            throw KeychainFault(error)
        }
    }

    /// For a row that exists. Of one that was sealed while locked the row's MAC has to be verified before.
    static func opening(_ record: ItemRecord, ring: KeyRing) throws(KeychainFault) -> RowKeys {
        let keys = try ring.keys(for: .protection(record.protection), generation: record.generation)
        guard let ephemeral = record.ephemeral else { return RowKeys(classKeys: keys, exchange: nil) }
        guard let secretKey = keys.exchange, let classKey = keys.publicKey else { throw .decode }
        let shared = try secretKey.using { (key) throws(CryptoError) in
            try X25519KeyPair(secretKey: key.copy()).sharedSecret(with: ephemeral)
        }
        return RowKeys(
            classKeys: keys,
            exchange: KeyAgreement(shared: RevocableSecret(shared), ephemeral: ephemeral, classKey: classKey))
    }

    /// Seals the metadata that `bound` is bound to.
    func metadataKey(_ bound: AssociatedData) throws(KeychainFault) -> RevocableSecret {
        guard let exchange else { return classKeys.metadata }
        return try exchange.key(KeyLabel.ephemeralMetadata, bound)
    }

    /// Seals the contents that `bound` is bound to.
    ///
    /// For WhenUnlockedUnlessOpen it is a key of these contents alone: an open descriptor keeps it over a lock,
    /// which must not keep a class key.
    func secretKey(_ bound: AssociatedData) throws(KeychainFault) -> RevocableSecret {
        if let exchange { return try exchange.key(KeyLabel.ephemeralSecret, bound) }
        guard classKeys.purpose == .protection(.whenUnlockedUnlessOpen) else { return classKeys.secret }
        let derived = try classKeys.secret.using { (key) throws(CryptoError) in
            try BLAKE2b.derive(key: key, parts: [KeyLabel.unlessOpenSecret, bound.bytes])
        }
        return RevocableSecret(derived)
    }
}

extension RowKeys.KeyAgreement {
    /// BLAKE2b(shared secret; what for, both public keys, associated data).
    fileprivate func key(_ label: [UInt8], _ bound: AssociatedData) throws(KeychainFault) -> RevocableSecret {
        let derived = try shared.using { (key) throws(CryptoError) in
            try BLAKE2b.derive(key: key, parts: [label, ephemeral, classKey, bound.bytes])
        }
        return RevocableSecret(derived)
    }
}
