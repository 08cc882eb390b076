import SecretCrypto

extension Transaction {
    /// Gives an item a new persistent reference if it still has `reference`: its name, and with it the reference, has
    /// gone to another one.
    ///
    /// Its modification date stays: this is the rest of the rename that took it away from its name.
    ///
    /// - Returns: Whether it had.
    /// - Throws: `interactionNotAllowed` or `decode` if it cannot be looked at.
    package func renewReference(of row: RowID, from reference: [UInt8]) throws(KeychainFault) -> Bool {
        guard let record = try writer.item(id: row) else { return false }
        var item = try keychain.itemEnvelope.open(record)
        guard item.persistentReference == reference else { return false }
        item.persistentReference = SecureRandom.bytes(MetadataCodec.referenceCount)
        item.version += 1
        _ = try put(item, keepingSecretOf: record)
        return true
    }
}
