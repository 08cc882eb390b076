import SecretCrypto

/// The MAC of an item of Always or AlwaysThisDeviceOnly (contract, S3). The device key alone opens its class keys, so a thief
/// of it can seal valid rows; only the row-MAC key, which an unlock reveals, authenticates them.
///
/// Covers ciphertexts, because the holder of an AEAD key can find another ciphertext for the same nonce and tag.
struct AlwaysMAC {
    /// The size of ``ItemRecord/mac`` in bytes.
    static let byteCount = 2 * partCount
    private static let partCount = 32

    /// The MAC of the ciphertext of the secret.
    let contents: [UInt8]
    /// The MAC of the row, which covers ``contents``.
    let row: [UInt8]

    var bytes: [UInt8] { contents + row }

    init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        (contents, row) = (Array(bytes.prefix(Self.partCount)), Array(bytes.suffix(Self.partCount)))
    }

    /// Computes the MAC of a row.
    ///
    /// - Parameters:
    ///   - contents: The result of ``contents(of:ciphertext:master:store:)``.
    ///   - master: The set of master keys that the row names.
    init(of record: ItemRecord, contents: [UInt8], master: MasterKeys, store: [UInt8]) throws(KeychainFault) {
        var position = AssociatedData(.row, store: store)
            .adding(
                record.id.rawValue, record.directory.rawValue, Int64(record.protection.rawValue), record.generation,
                record.version)
        for tag in [record.tag, record.alwaysTag] { position.append(part: tag) }
        let parts = [
            KeyLabel.alwaysRow, position.bytes, contents, record.secretNoncesAndTags.flatMap(\.bytes),
            record.metadata.nonceAndTag.bytes, record.metadata.ciphertext,
        ]
        self.contents = contents
        row = try Self.mac(parts, master)
    }

    /// Computes the MAC of the ciphertext of a secret; empty for an item without one.
    static func contents(
        of id: RowID, ciphertext: [UInt8], master: MasterKeys, store: [UInt8]
    ) throws(KeychainFault) -> [UInt8] {
        try mac([KeyLabel.alwaysContents, store, [UInt8](littleEndian: id.rawValue), ciphertext], master)
    }

    private static func mac(_ parts: [[UInt8]], _ master: MasterKeys) throws(KeychainFault) -> [UInt8] {
        try master.rowMAC.using { (key) throws(CryptoError) in
            try BLAKE2b.mac(key: key, parts: parts, count: partCount)
        }
    }
}

extension ItemRecord {
    /// Sets the MAC.
    mutating func authenticate(contents: [UInt8], master: MasterKeys, store: [UInt8]) throws(KeychainFault) {
        masterKeyGeneration = master.generation
        mac = try AlwaysMAC(of: self, contents: contents, master: master, store: store).bytes
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
        guard let (found, master) = try alwaysMAC(ring: ring) else { return }
        let expected = try AlwaysMAC(of: self, contents: found.contents, master: master, store: ring.storeID)
        guard SecretBytes.areEqual(found.row.rawSpan, expected.row.rawSpan) else { throw .decode }
    }

    /// Verifies the MAC of the secret, before any part of it is opened, if the master keys are available.
    ///
    /// - Throws: `decode`.
    func verifyContents(_ ciphertext: [UInt8], ring: KeyRing) throws(KeychainFault) {
        guard let (found, master) = try alwaysMAC(ring: ring) else { return }
        let expected = try AlwaysMAC.contents(of: id, ciphertext: ciphertext, master: master, store: ring.storeID)
        guard SecretBytes.areEqual(found.contents.rawSpan, expected.rawSpan) else { throw .decode }
    }

    /// Returns the MAC and its set of master keys; nil without a MAC, and before the first unlock.
    private func alwaysMAC(ring: KeyRing) throws(KeychainFault) -> (AlwaysMAC, MasterKeys)? {
        guard let mac, let masterKeyGeneration else { return nil }
        guard let found = AlwaysMAC(bytes: mac) else { throw .decode }
        guard ring.state.isAfterFirstUnlock else { return nil }
        return (found, try ring.masterKeys(generation: masterKeyGeneration))
    }
}
