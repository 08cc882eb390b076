import SecretCrypto

/// The keys of one row.
struct RowKeys {
    /// The shared secret of an ephemeral key pair and the class's key pair (contract, S3).
    struct KeyAgreement {
        let shared: RevocableSecret
        let ephemeral: [UInt8]
        let classKey: [UInt8]
    }

    let classKeys: ClassKeys
    /// The key agreement of a WhenUnlockedUnlessOpen row that was sealed while locked; nil for other rows.
    let exchange: KeyAgreement?

    var generation: Int64 { classKeys.generation }

    /// Returns the keys for a new or resealed row: the class keys, or an ephemeral key pair while
    /// WhenUnlockedUnlessOpen is locked.
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

    /// Returns the keys of an existing row. The MAC of a row that was sealed while locked must have been verified.
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

    /// Returns the key of metadata with these associated data.
    func metadataKey(_ bound: AssociatedData) throws(KeychainFault) -> RevocableSecret {
        guard let exchange else { return classKeys.metadata }
        return try exchange.key(KeyLabel.ephemeralMetadata, bound)
    }

    /// Returns the key of a secret with these associated data.
    ///
    /// For WhenUnlockedUnlessOpen it is a key of this secret alone, because an open descriptor retains it after a lock,
    /// when it must not retain a class key.
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
    /// BLAKE2b(shared secret; label, both public keys, associated data).
    fileprivate func key(_ label: [UInt8], _ bound: AssociatedData) throws(KeychainFault) -> RevocableSecret {
        let derived = try shared.using { (key) throws(CryptoError) in
            try BLAKE2b.derive(key: key, parts: [label, ephemeral, classKey, bound.bytes])
        }
        return RevocableSecret(derived)
    }
}
