import SecretCrypto

extension SlotRecord {
    /// Creates a slot that opens to `userKey`: the key wrapped for the recipient, and the recipient sealed under the
    /// key.
    init(
        wrapping userKey: borrowing SecretBytes, for recipient: borrowing SlotRecipient, at address: SlotAddress
    ) throws(CryptoError) {
        let ephemeral = try X25519KeyPair()
        let key = try Self.wrappingKey(
            shared: ephemeral.sharedSecret(with: recipient.publicKey), ephemeral: ephemeral.publicKey,
            publicKey: recipient.publicKey, macKey: recipient.macKey, address: address)
        let sealed = try Sealed.sealing(userKey.bytes, key: key, bound: address.binding(.userKey))
        self.init(
            id: address.id, kind: address.kind, parameters: address.parameters,
            userKeyGeneration: address.userKeyGeneration, ephemeral: ephemeral.publicKey,
            userKey: sealed,
            recipient: try Self.seal(recipient, userKey: userKey, address: address))
    }

    /// Opens the user key.
    ///
    /// - Throws: `authenticationFailed` for another secret, or a changed record.
    func userKey(with secret: borrowing SlotSecret, store: [UInt8]) throws(CryptoError) -> SecretBytes {
        let address = SlotAddress(self, store: store)
        let key = try Self.wrappingKey(
            shared: secret.pair.sharedSecret(with: ephemeral), ephemeral: ephemeral,
            publicKey: secret.pair.publicKey, macKey: secret.macKey, address: address)
        return try userKey.open(key: key, bound: address.binding(.userKey), count: AEAD.keyCount)
    }

    /// Returns the recipient for which a new user key is wrapped. It has no other source (contract, S3).
    func recipient(userKey: borrowing SecretBytes, store: [UInt8]) throws(CryptoError) -> SlotRecipient {
        let key = try BLAKE2b.derive(key: userKey, parts: [KeyLabel.recipientWrapping, store])
        let plaintext = try recipient.open(
            key: key, bound: SlotAddress(self, store: store).binding(.recipient), count: 2 * X25519KeyPair.keyCount)
        return SlotRecipient(
            publicKey: [UInt8](copying: plaintext.bytes.extracting(0..<32)), macKey: try plaintext.slice(32..<64))
    }

    private static func seal(
        _ recipient: borrowing SlotRecipient, userKey: borrowing SecretBytes, address: SlotAddress
    ) throws(CryptoError) -> Sealed {
        let key = try BLAKE2b.derive(key: userKey, parts: [KeyLabel.recipientWrapping, address.store])
        var plaintext = try SecretBytes(count: 2 * X25519KeyPair.keyCount)
        var output = plaintext.mutableBytes
        let written = output.write(recipient.publicKey.rawSpan)
        _ = output.write(recipient.macKey.bytes, at: written)
        return try Sealed.sealing(plaintext.bytes, key: key, bound: address.binding(.recipient))
    }

    /// BLAKE2b(slot's MAC key; label, shared secret, both public keys, store ID, slot ID, user-key generation).
    private static func wrappingKey(
        shared: consuming SecretBytes, ephemeral: [UInt8], publicKey: [UInt8], macKey: borrowing SecretBytes,
        address: SlotAddress
    ) throws(CryptoError) -> SecretBytes {
        try BLAKE2b.derive(
            key: macKey, label: KeyLabel.userKeyWrapping, secret: shared,
            parts: [
                ephemeral, publicKey, address.store, [UInt8](littleEndian: address.id),
                [UInt8](littleEndian: address.userKeyGeneration),
            ])
    }
}
