import SecretCrypto

/// The MAC of an item of Always or AlwaysThisDeviceOnly (contract, S3). The device key alone opens its class keys, so a thief
/// of it can seal valid rows; only the row-MAC key, which an unlock reveals, authenticates them.
///
/// Covers the ciphertext of the metadata, and that of the secret by the hashes in its seals, because the holder of an AEAD key
/// can find another ciphertext for the same nonce and tag.
enum AlwaysMAC {
    /// The size of ``ItemRecord/mac`` in bytes.
    static let byteCount = 32

    /// Computes the MAC of a row.
    ///
    /// - Parameter master: The set of master keys that the row names.
    static func bytes(of record: ItemRecord, master: MasterKeys, store: [UInt8]) throws(KeychainFault) -> [UInt8] {
        var position = AssociatedData(.row, store: store)
            .adding(
                record.id.rawValue, record.directory.rawValue, Int64(record.protection.rawValue), record.generation,
                record.version)
        for tag in [record.tag, record.alwaysTag] { position.append(part: tag) }
        let parts = [
            KeyLabel.alwaysRow, position.bytes, record.secretSeals.bytes, record.metadata.nonceAndTag.bytes,
            record.metadata.ciphertext,
        ]
        return try master.rowMAC.using { (key) throws(CryptoError) in
            try BLAKE2b.mac(key: key, parts: parts, count: byteCount)
        }
    }
}

extension ItemRecord {
    /// Sets the MAC.
    mutating func authenticate(master: MasterKeys, store: [UInt8]) throws(KeychainFault) {
        masterKeyGeneration = master.generation
        mac = try AlwaysMAC.bytes(of: self, master: master, store: store)
    }

    /// Verifies, before any part of the row is opened, that its class has a MAC, an ephemeral key or neither, and the MAC
    /// if the master keys are available.
    ///
    /// - Throws: `decode`.
    func verifyRow(ring: KeyRing) throws(KeychainFault) {
        let isAlways = protection.availability == .always
        guard (mac != nil) == isAlways, (masterKeyGeneration != nil) == (isAlways || ephemeral != nil),
            ephemeral == nil || protection == .whenUnlockedUnlessOpen
        else { throw .decode }
        guard let mac, let masterKeyGeneration else { return }
        guard mac.count == AlwaysMAC.byteCount else { throw .decode }
        // The master keys are not available before the first unlock.
        guard ring.state.isAfterFirstUnlock else { return }
        let master = try ring.masterKeys(generation: masterKeyGeneration)
        let expected = try AlwaysMAC.bytes(of: self, master: master, store: ring.storeID)
        guard SecretBytes.areEqual(mac.rawSpan, expected.rawSpan) else { throw .decode }
    }
}
