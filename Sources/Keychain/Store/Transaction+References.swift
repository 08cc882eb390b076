import SecretCrypto

extension Transaction {
    /// Gives an item a new persistent reference if it still has `reference`, because its name, and with it the
    /// reference, now belongs to another item.
    ///
    /// Its modification date stays: this completes the rename that has taken its name.
    ///
    /// - Returns: Whether the item had the reference.
    /// - Throws: `interactionNotAllowed` or `decode` if it cannot be opened.
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
