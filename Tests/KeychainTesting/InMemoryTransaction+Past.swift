internal import Keychain

/// Past values and item keys.
extension InMemoryTransaction {
    func past(id: RowID) throws(KeychainFault) -> PastRecord? { records.pastRecords[id] }

    func pastWithSecret(id: RowID) throws(KeychainFault) -> (past: PastRecord, secret: [UInt8])? {
        try past(id: id).map { (record) throws(KeychainFault) in (record, try secret(of: id)) }
    }

    func pastValues(after: RowID, limit: Int) throws(KeychainFault) -> [PastRecord] {
        records.pastRecords.keys.filter { $0 > after }.sorted().prefix(limit).compactMap { records.pastRecords[$0] }
    }

    func pastIDs(after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        try pastValues(after: after, limit: limit).map(\.id)
    }

    func pastIDs(of old: OldKeys, after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        let rows = try pastValues(after: after, limit: .max).filter {
            old.generations.contains(KeyGeneration($0.protection, $0.generation))
                || $0.masterKeyGeneration < old.masterGeneration
        }
        return Array(rows.map(\.id).prefix(limit))
    }

    func pastIDs(of protection: ProtectionClass, limit: Int) throws(KeychainFault) -> [RowID] {
        Array(records.pastRecords.values.filter { $0.protection == protection }.map(\.id).prefix(limit))
    }

    func rowCount(_ ids: ClosedRange<RowID>) throws(KeychainFault) -> Int {
        let secretRows =
            records.itemRecords.values.compactMap(\.secretRow) + records.pastRecords.values.compactMap(\.secretRow)
        let rows =
            Array(records.directoryRecords.keys) + Array(records.itemRecords.keys) + Array(records.pastRecords.keys)
        return (rows + secretRows).count(where: ids.contains)
    }

    func pastCount() throws(KeychainFault) -> Int { records.pastRecords.count }

    func pastBytes(of id: RowID) throws(KeychainFault) -> Int64 {
        guard let past = records.pastRecords[id] else { return 0 }
        return Int64(512 + past.info.ciphertext.count + past.metadata.count + (records.secrets[id]?.count ?? 0))
    }

    func pastBytes() throws(KeychainFault) -> Int64 {
        var bytes: Int64 = 0
        for id in records.pastRecords.keys { bytes += try pastBytes(of: id) }
        return bytes
    }

    func put(_ past: PastRecord, secret: [UInt8]?) throws(KeychainFault) {
        if let secret {
            guard (secret.count > ItemRecord.longestShortSecret) == (past.secretRow != nil) else { throw .param }
            records.secrets[past.id] = secret
        }
        records.pastRecords[past.id] = past
    }

    func deletePast(_ id: RowID) throws(KeychainFault) {
        guard records.pastRecords.removeValue(forKey: id) != nil else { return }
        records.secrets[id] = nil
    }

    func itemKeys(after: ItemKeyRecord.Position?, limit: Int) throws(KeychainFault) -> ItemKeyPage {
        func order(_ position: ItemKeyRecord.Position) -> (Int64, Int64) { (position.item.rawValue, position.kind) }
        let positions = records.itemKeys.keys.sorted { order($0) < order($1) }
        let found = positions.filter { position in after.map { order($0) < order(position) } ?? true }.prefix(limit)
        var page = ItemKeyPage()
        page.records = found.map { ItemKeyRecord(item: $0.item, kind: $0.kind, tag: records.itemKeys[$0] ?? []) }
        page.last = found.count < limit ? nil : found.last
        return page
    }

    func itemKeys(of item: RowID) throws(KeychainFault) -> [ItemKeyRecord] {
        try itemKeys(after: nil, limit: .max).records.filter { $0.position.item == item }
    }

    func itemKeyCount() throws(KeychainFault) -> Int { records.itemKeys.count }
    func put(_ key: ItemKeyRecord) throws(KeychainFault) { records.itemKeys[key.position] = key.tag }

    func usedKeys(of generations: Set<KeyGeneration>) throws(KeychainFault) -> Set<KeyGeneration> {
        let items = records.itemRecords.values.map { KeyGeneration($0.protection, $0.generation) }
        let past = records.pastRecords.values.map { KeyGeneration($0.protection, $0.generation) }
        return generations.intersection(items + past)
    }
}
