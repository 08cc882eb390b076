import SecretCrypto

/// The keys of one row.
struct RowKeys {
    /// The shared secret of an ephemeral key pair and the class's key pair (contract, S3).
    struct KeyAgreement {
        let shared: RevocableSecret
        let ephemeral: [UInt8]
        let classKey: [UInt8]
        /// A key derived from the row-MAC key: the public key alone, or a broken X25519, does not suffice for a row.
        let binding: RevocableSecret
        /// The generation of the master keys of `binding`.
        let masterGeneration: Int64

        init(
            shared: consuming SecretBytes, ephemeral: [UInt8], classKey: [UInt8], master: MasterKeys, store: [UInt8]
        ) throws(KeychainFault) {
            self.shared = RevocableSecret(shared)
            (self.ephemeral, self.classKey, masterGeneration) = (ephemeral, classKey, master.generation)
            binding = RevocableSecret(
                try master.rowMAC.using { (key) throws(CryptoError) in
                    try BLAKE2b.derive(key: key, parts: [KeyLabel.ephemeral, store])
                })
        }
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
        let pair = try KeychainFault.translating { () throws(CryptoError) in try X25519KeyPair() }
        let shared = try KeychainFault.translating { () throws(CryptoError) in try pair.sharedSecret(with: classKey) }
        let exchange = try KeyAgreement(
            shared: shared, ephemeral: pair.publicKey, classKey: classKey, master: ring.masterKeys(),
            store: ring.storeID)
        return RowKeys(classKeys: keys, exchange: exchange)
    }

    /// Returns the keys of an existing row, which must have passed ``ItemRecord/verifyRow(ring:)``.
    static func opening(_ record: ItemRecord, ring: KeyRing) throws(KeychainFault) -> RowKeys {
        let keys = try ring.keys(for: .protection(record.protection), generation: record.generation)
        guard let ephemeral = record.ephemeral else { return RowKeys(classKeys: keys, exchange: nil) }
        guard let secretKey = keys.exchange, let classKey = keys.publicKey,
            let masterGeneration = record.masterKeyGeneration
        else { throw .decode }
        let shared = try secretKey.using { (key) throws(CryptoError) in
            try X25519KeyPair(secretKey: key.copy()).sharedSecret(with: ephemeral)
        }
        let exchange = try KeyAgreement(
            shared: shared, ephemeral: ephemeral, classKey: classKey,
            master: ring.masterKeys(generation: masterGeneration), store: ring.storeID)
        return RowKeys(classKeys: keys, exchange: exchange)
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
    /// BLAKE2b(shared secret; label, both public keys, associated data, `binding`).
    fileprivate func key(_ label: [UInt8], _ bound: AssociatedData) throws(KeychainFault) -> RevocableSecret {
        let derived = try shared.using { (key) throws(CryptoError) in
            try binding.use { (binding) throws(CryptoError) in
                try BLAKE2b.derive(key: key, parts: [label, ephemeral, classKey, bound.bytes], secret: binding)
            }
        }
        return RevocableSecret(derived)
    }
}
