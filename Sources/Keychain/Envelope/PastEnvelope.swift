import SecretCrypto

/// Seals past values into rows and opens them (contract, S3).
///
/// Most columns of the item's row are copied, so that no class key is needed to keep a value. The nonce and tag of its
/// metadata are sealed in the info: without the past key a row of a past value cannot become a row of an item again.
package struct PastEnvelope: Sendable {
    package let ring: KeyRing
    private var items: ItemEnvelope { ItemEnvelope(ring: ring) }

    package init(ring: KeyRing) { self.ring = ring }

    /// Returns the lookup tag of an item's past values.
    package func tag(persistentReference: [UInt8]) throws(KeychainFault) -> [UInt8] {
        try ring.lookupTag(parts: [Self.label, persistentReference])
    }

    // Part of the store format.
    private static let label = Array("past".utf8)

    /// Makes a past value of an item's row.
    ///
    /// - Parameters:
    ///   - id: The row number of the past value.
    ///   - tag: The result of ``tag(persistentReference:)``.
    ///   - info: Contains the row as its origin.
    /// - Throws: `param` for a row that was sealed while locked, or another one than the origin; `interactionNotAllowed` before
    ///   the first unlock; `attributesTooLarge`, `allocate`.
    package func seal(
        _ row: ItemRecord, id: RowID, tag: [UInt8], info: PastInfo
    ) throws(KeychainFault) -> PastRecord {
        guard row.ephemeral == nil, info.origin == PastInfo.Origin(row) else { throw .param }
        let master = try ring.masterKeys()
        let plaintext = try PastInfoCodec.encode(info)
        let bound = Self.bound(
            id, master.generation, KeyGeneration(row.protection, row.generation), tag, row.secretSeals,
            store: ring.storeID)
        let sealed = try master.past.using { (key) throws(CryptoError) in
            try Sealed.sealing(plaintext.bytes, key: key, bound: bound)
        }
        return PastRecord(
            id: id, protection: row.protection, generation: row.generation, masterKeyGeneration: master.generation,
            secretRow: row.secretRow, tag: tag, info: sealed, secretSeals: row.secretSeals,
            metadata: row.metadata.ciphertext)
    }

    /// Opens the info of a past value. Needs no class key.
    ///
    /// - Throws: `decode` if it is not authentic; `interactionNotAllowed` before the first unlock.
    package func open(_ record: PastRecord) throws(KeychainFault) -> PastInfo {
        guard record.id < .limit else { throw .decode }
        let master = try ring.masterKeys(generation: record.masterKeyGeneration)
        let bound = Self.bound(
            record.id, record.masterKeyGeneration, KeyGeneration(record.protection, record.generation), record.tag,
            record.secretSeals, store: ring.storeID)
        let plaintext = try master.past.using { (key) throws(CryptoError) in
            try record.info.openPadded(key: key, bound: bound)
        }
        return try PastInfoCodec.decode(plaintext.bytes)
    }

    /// Returns the item's row as it was, which ``ItemEnvelope`` opens.
    ///
    /// - Parameter info: The result of ``open(_:)``.
    package func row(of record: PastRecord, _ info: PastInfo) -> ItemRecord {
        let origin = info.origin
        return ItemRecord(
            id: origin.id, directory: origin.directory, version: origin.version, protection: record.protection,
            generation: record.generation, masterKeyGeneration: origin.masterKeyGeneration,
            secretRow: record.secretRow, tag: origin.tag, alwaysTag: origin.alwaysTag, ephemeral: nil,
            mac: origin.mac, metadata: Sealed(nonceAndTag: origin.metadata, ciphertext: record.metadata),
            secretSeals: record.secretSeals)
    }

    /// Verifies a past value completely, as far as its keys are available.
    ///
    /// - Returns: The info, and whether metadata and secret were verified, as by ``ItemEnvelope/verify(_:ciphertext:)``.
    /// - Throws: `decode` if a part is not authentic.
    func verify(
        _ record: PastRecord, ciphertext: [UInt8]
    ) throws(KeychainFault) -> (info: PastInfo, isComplete: Bool) {
        let info = try open(record)
        return (info, try items.verify(row(of: record, info), ciphertext: ciphertext) != nil)
    }

    /// Reseals the info of a past value under the newest master keys, and its metadata and secret under the newest keys of the
    /// class if they are under old ones. Nothing else changes.
    ///
    /// - Returns: The row, and its new ciphertext (nil if it stays).
    /// - Throws: `decode` if a part is not authentic; `interactionNotAllowed` if its class is locked.
    func renew(
        _ record: PastRecord, ciphertext: [UInt8], from old: OldKeys
    ) throws(KeychainFault) -> (record: PastRecord, secret: [UInt8]?) {
        var info = try open(record)
        let row = row(of: record, info)
        var renewed: (record: ItemRecord, secret: [UInt8]?) = (row, nil)
        if old.generations.contains(KeyGeneration(row.protection, row.generation)) {
            renewed = try items.renew(row, ciphertext: ciphertext)
            renewed.record.secretRow = row.secretRow
        } else if row.mac != nil {
            renewed.record = try items.renewMAC(row)
        }
        info.origin = PastInfo.Origin(renewed.record)
        let sealed = try seal(renewed.record, id: record.id, tag: record.tag, info: info)
        return (sealed, renewed.secret)
    }

    static func bound(
        _ id: RowID, _ masterGeneration: Int64, _ key: KeyGeneration, _ tag: [UInt8], _ seals: ChunkSeals,
        store: [UInt8]
    ) -> AssociatedData {
        AssociatedData(.pastInfo, store: store)
            .adding(id.rawValue, masterGeneration, Int64(key.protection.rawValue), key.generation)
            .adding(part: tag)
            .adding(part: seals.bytes)
    }
}
