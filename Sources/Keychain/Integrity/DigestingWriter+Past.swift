// MARK: Changes of past values and item keys

extension DigestingWriter {
    func put(_ past: PastRecord, secret: [UInt8]?) throws(KeychainFault) {
        let old = try oldPast(past.id)
        let bytes = try base.pastBytes(of: past.id)
        var past = past
        past.secretRow = try secretRow(past.secretRow, secret: secret, old: old?.record?.secretRow)
        try base.put(past, secret: secret)
        note(RowPosition(table: .past, id: past.id.rawValue), old: old?.sum, new: try digest.sum(past))
        note(pastBytes: try base.pastBytes(of: past.id) - bytes)
    }

    func deletePast(_ id: RowID) throws(KeychainFault) {
        guard let old = try oldPast(id) else { return }
        let bytes = try base.pastBytes(of: id)
        try base.deletePast(id)
        note(RowPosition(table: .past, id: id.rawValue), old: old.sum, new: nil)
        note(pastBytes: -bytes)
    }

    func put(_ key: ItemKeyRecord) throws(KeychainFault) {
        let position = RowPosition(key.position)
        let old = try oldItemKeys(of: key.position.item).first { $0.position == position }
        try base.put(key)
        note(position, old: old?.sum, new: try digest.sum(key))
    }

    /// Returns the digests of an item's keys before their change. The digest of a malformed row is unknown.
    func oldItemKeys(of item: RowID) throws(KeychainFault) -> [(position: RowPosition, sum: DigestSum)] {
        let keys = try nilIfDamaged { () throws(KeychainFault) in try base.itemKeys(of: item) }
        var sums: [(position: RowPosition, sum: DigestSum)] = []
        for key in keys ?? [] { sums.append((RowPosition(key.position), try digest.sum(key))) }
        if keys == nil { sums.append((RowPosition(table: .itemKey, id: item.rawValue), .ofUnknownRow)) }
        return sums
    }

    /// Returns a past value before its change; without its record if it cannot be decoded.
    private func oldPast(_ id: RowID) throws(KeychainFault) -> (sum: DigestSum, record: PastRecord?)? {
        do throws(KeychainFault) {
            guard let record = try base.past(id: id) else { return nil }
            return (try digest.sum(record), record)
        } catch .decode {
            return (.ofUnknownRow, nil)
        }
    }
}

extension RowPosition {
    init(_ key: ItemKeyRecord.Position) {
        self.init(table: .itemKey, id: key.item.rawValue, kind: key.kind)
    }
}

// MARK: Reads of past values and item keys

extension DigestingWriter {
    func past(id: RowID) throws(KeychainFault) -> PastRecord? { try base.past(id: id) }

    func pastWithSecret(id: RowID) throws(KeychainFault) -> (past: PastRecord, secret: [UInt8])? {
        try base.pastWithSecret(id: id)
    }

    func pastValues(after: RowID, limit: Int) throws(KeychainFault) -> [PastRecord] {
        try base.pastValues(after: after, limit: limit)
    }

    func pastIDs(after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        try base.pastIDs(after: after, limit: limit)
    }

    func pastIDs(of old: OldKeys, after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        try base.pastIDs(of: old, after: after, limit: limit)
    }

    func pastIDs(of protection: ProtectionClass, limit: Int) throws(KeychainFault) -> [RowID] {
        try base.pastIDs(of: protection, limit: limit)
    }

    func pastCount() throws(KeychainFault) -> Int { try base.pastCount() }
    func pastBytes(of id: RowID) throws(KeychainFault) -> Int64 { try base.pastBytes(of: id) }
    func pastBytes() throws(KeychainFault) -> Int64 { try base.pastBytes() }

    func itemKeys(after: ItemKeyRecord.Position?, limit: Int) throws(KeychainFault) -> ItemKeyPage {
        try base.itemKeys(after: after, limit: limit)
    }

    func itemKeys(of item: RowID) throws(KeychainFault) -> [ItemKeyRecord] { try base.itemKeys(of: item) }
    func itemKeyCount() throws(KeychainFault) -> Int { try base.itemKeyCount() }
}
