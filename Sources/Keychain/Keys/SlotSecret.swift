import SecretCrypto

/// What a slot's secret yields: an X25519 pair and a MAC key (contract, S3).
///
/// The root is 32 bytes: Argon2id of a passphrase; how other kinds come by theirs is theirs to say. Store and slot enter, so
/// that the same passphrase in two slots gives two unrelated pairs.
struct SlotSecret: ~Copyable {
    /// Bytes of the root.
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

    /// What others need to wrap a user key for this slot.
    func recipient() throws(CryptoError) -> SlotRecipient {
        SlotRecipient(publicKey: pair.publicKey, macKey: try macKey.copy())
    }
}

/// Whom a user key is wrapped for. Kept in the slot's record, encrypted under the user key.
struct SlotRecipient: ~Copyable {
    let publicKey: [UInt8]
    let macKey: SecretBytes
}

/// Which slot of which store a user key is wrapped for.
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

    /// Where a record says that it belongs.
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
