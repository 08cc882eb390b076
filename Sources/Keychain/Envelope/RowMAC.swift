import SecretCrypto

/// The MAC of a row that was sealed while locked. Without it, who has the class's public key could add such rows;
/// so it is verified before anything of the row is opened.
extension ItemRecord {
    /// Bytes of ``ItemRecord/mac``.
    static let macCount = 32

    /// BLAKE2b(row-MAC key; every column but the MAC itself, contents by their seals).
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

    /// - Throws: `decode` unless the row has an ephemeral key and the MAC that belongs to it, or neither.
    func verifyMAC(ring: KeyRing) throws(KeychainFault) {
        guard ephemeral != nil || mac != nil else { return }
        guard ephemeral != nil, let mac, protection == .whenUnlockedUnlessOpen else { throw .decode }
        let expected = try computedMAC(key: ring.masterKeys().rowMAC, store: ring.storeID)
        guard SecretBytes.areEqual(mac.rawSpan, expected.rawSpan) else { throw .decode }
    }
}
