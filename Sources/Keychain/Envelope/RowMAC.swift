import SecretCrypto

/// The MAC of a row that was sealed while locked. Without it, an attacker with the class's public key could add such rows,
/// so it is verified before any part of the row is opened.
extension ItemRecord {
    /// The size of ``ItemRecord/mac`` in bytes.
    static let macCount = 32

    /// BLAKE2b(row-MAC key; every column except the MAC itself, the secret by its nonces and tags).
    func computedMAC(key: RevocableSecret, store: [UInt8]) throws(KeychainFault) -> [UInt8] {
        var columns = AssociatedData(.row, store: store)
            .adding(id.rawValue, directory.rawValue, version, Int64(protection.rawValue), generation)
        for part in [tag, alwaysTag, ephemeral] { columns.append(part: part) }
        let parts =
            [KeyLabel.rowMAC, columns.bytes, metadata.nonceAndTag.bytes, metadata.ciphertext]
            + secretNoncesAndTags.map(\.bytes)
        return try key.using { (key) throws(CryptoError) in
            try BLAKE2b.mac(key: key, parts: parts, count: Self.macCount)
        }
    }

    /// Verifies the MAC.
    ///
    /// - Throws: `decode` unless the row has an ephemeral key and its MAC, or neither.
    func verifyMAC(ring: KeyRing) throws(KeychainFault) {
        guard ephemeral != nil || mac != nil || masterKeyGeneration != nil else { return }
        guard ephemeral != nil, let mac, protection == .whenUnlockedUnlessOpen else { throw .decode }
        guard let masterKeyGeneration else { throw .decode }
        let master = try ring.masterKeys(generation: masterKeyGeneration)
        let expected = try computedMAC(key: master.rowMAC, store: ring.storeID)
        guard SecretBytes.areEqual(mac.rawSpan, expected.rawSpan) else { throw .decode }
    }
}
