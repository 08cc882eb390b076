import SecretCrypto

/// The keys derived from a slot's root key: an X25519 pair and a MAC key (contract, S3).
///
/// The root key has 32 bytes; for a passphrase it is an Argon2id. Store and slot are inputs of the derivation, so that
/// two slots with the same passphrase have unrelated pairs.
struct SlotSecret: ~Copyable {
    /// The size of a root key in bytes.
    static let rootCount = 32

    let pair: X25519KeyPair
    let macKey: SecretBytes

    init(root: borrowing SecretBytes, store: [UInt8], slot: Int64) throws(CryptoError) {
        let address = [store, [UInt8](littleEndian: slot)]
        let pair = try X25519KeyPair(
            secretKey: BLAKE2b.derive(key: root, parts: [KeyLabel.slotExchange] + address))
        macKey = try BLAKE2b.derive(key: root, parts: [KeyLabel.slotMAC] + address)
        self.pair = pair
    }

    /// Returns the public part, for which a user key can be wrapped.
    func recipient() throws(CryptoError) -> SlotRecipient {
        SlotRecipient(publicKey: pair.publicKey, macKey: try macKey.copy())
    }
}

/// The recipient of a wrapped user key. Stored in the slot's record, encrypted under the user key.
struct SlotRecipient: ~Copyable {
    let publicKey: [UInt8]
    let macKey: SecretBytes
}

/// The identity of the slot and store for which a user key is wrapped.
struct SlotAddress {
    var store: [UInt8]
    var id: Int64
    var kind: SlotKind
    var parameters: [UInt8]
    var userKeyGeneration: Int64

    init(store: [UInt8], id: Int64, kind: SlotKind, userKeyGeneration: Int64, parameters: [UInt8] = []) {
        self.store = store
        self.id = id
        self.kind = kind
        self.parameters = parameters
        self.userKeyGeneration = userKeyGeneration
    }

    /// Creates the address that a record claims.
    init(_ record: SlotRecord, store: [UInt8]) {
        self.init(
            store: store, id: record.id, kind: record.kind, userKeyGeneration: record.userKeyGeneration,
            parameters: record.parameters)
    }

    func binding(_ field: SealedField) -> AssociatedData {
        AssociatedData(field, store: store).adding(id, Int64(kind.rawValue), userKeyGeneration)
            .adding(part: parameters)
    }
}
