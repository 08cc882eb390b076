internal import Keychain
internal import SQLiteRows

/// Past values.
extension SQLiteRecords {
    private static let pastColumns = """
        id, protection, generation, master_key_generation, secret_row, tag, info_seal, secret_seals, info, metadata
        """

    func past(id: RowID) throws(KeychainFault) -> PastRecord? {
        try row("SELECT \(Self.pastColumns) FROM past WHERE id = ?", [.row(id)], Self.past)
    }

    func pastWithSecret(id: RowID) throws(KeychainFault) -> (past: PastRecord, secret: [UInt8])? {
        guard let past = try past(id: id) else { return nil }
        let sql = "SELECT \(Self.ciphertext) FROM past WHERE id = ?"
        return (past, try row(sql, [.row(id)], longestValue: ValueLimit.row) { $0.optionalBytes(0) ?? [] } ?? [])
    }

    func pastValues(after: RowID, limit: Int) throws(KeychainFault) -> [PastRecord] {
        try page(
            "SELECT \(Self.pastColumns) FROM past WHERE id > ? ORDER BY id LIMIT ?", after: after, limit: limit,
            Self.past)
    }

    func pastIDs(after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        try page("SELECT id FROM past WHERE id > ? ORDER BY id LIMIT ?", after: after, limit: limit) {
            try $0.rowID(0)
        }
    }

    func pastIDs(of old: OldKeys, after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        let sql = "SELECT id FROM past WHERE id > ? AND \(Self.isUnder(old)) ORDER BY id LIMIT ?"
        return try page(sql, after: after, limit: limit) { try $0.rowID(0) }
    }

    func pastIDs(of protection: ProtectionClass, limit: Int) throws(KeychainFault) -> [RowID] {
        try rows(
            "SELECT id FROM past WHERE protection = ? LIMIT ?", [.integer(Int64(protection.rawValue)), .limit(limit)]
        ) { try $0.rowID(0) }
    }

    /// Reads the index, which is much smaller than the rows: the number is shown, and decides nothing.
    func pastCount() throws(KeychainFault) -> Int {
        try row("SELECT count(*) FROM past") { Int(try $0.number(0)) } ?? 0
    }

    /// 512 for the row and its index entries; the ciphertext is in the row or in its own.
    private static let bytesOfPast = """
        512 + length(info) + length(metadata) + coalesce(length(secret), 0) \
        + coalesce((SELECT length(ciphertext) FROM secret WHERE id = secret_row), 0)
        """

    func pastBytes(of id: RowID) throws(KeychainFault) -> Int64 {
        try row("SELECT \(Self.bytesOfPast) FROM past WHERE id = ?", [.row(id)]) { try $0.number(0) } ?? 0
    }

    func pastBytes() throws(KeychainFault) -> Int64 {
        try row("SELECT coalesce(sum(\(Self.bytesOfPast)), 0) FROM past NOT INDEXED") { try $0.number(0) } ?? 0
    }

    func put(_ past: PastRecord, secret: [UInt8]?) throws(KeychainFault) {
        let isLong = secret.map { $0.count > ItemRecord.longestShortSecret }
        guard isLong == nil || isLong == (past.secretRow != nil) else { throw .param }
        if secret != nil { try deleteLongSecret(ofPast: past.id, except: past.secretRow) }
        erasures?.note()
        try execute(Self.putPast, Self.arguments(past, secret: secret))
        if let secret, let row = past.secretRow { try putLongSecret(secret, row: row) }
    }

    /// ?12 states whether there is a new secret.
    private static let putPast = """
        INSERT INTO past (id, protection, generation, master_key_generation, secret_row, tag, info_seal, secret_seals, \
        info, metadata, secret) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) \
        ON CONFLICT (id) DO UPDATE SET protection = ?2, generation = ?3, master_key_generation = ?4, secret_row = ?5, \
        tag = ?6, info_seal = ?7, secret_seals = ?8, info = ?9, metadata = ?10, \
        secret = CASE WHEN ?12 THEN ?11 ELSE secret END
        """

    private static func arguments(_ past: PastRecord, secret: [UInt8]?) -> [SQLValue] {
        let short = secret.flatMap { $0.isEmpty || past.secretRow != nil ? nil : $0 }
        return [
            .row(past.id), .integer(Int64(past.protection.rawValue)), .integer(past.generation),
            .integer(past.masterKeyGeneration), .optional(past.secretRow?.rawValue), .blob(past.tag),
            .nonceAndTag(past.info.nonceAndTag), .blob(past.secretSeals.bytes),
            .blob(past.info.ciphertext), .blob(past.metadata), .blob(short), .integer(secret == nil ? 0 : 1),
        ]
    }

    func deletePast(_ id: RowID) throws(KeychainFault) {
        erasures?.note()
        try deleteLongSecret(ofPast: id, except: nil)
        try execute("DELETE FROM past WHERE id = ?", [.row(id)])
    }

    /// Must be called before the row is changed, which contains the number of the secret's row.
    private func deleteLongSecret(ofPast id: RowID, except row: RowID?) throws(KeychainFault) {
        try execute(
            "DELETE FROM secret WHERE id = (SELECT secret_row FROM past WHERE id = ?1) AND id IS NOT ?2",
            [.row(id), .optional(row?.rawValue)])
    }

    private static func past(_ row: borrowing StatementRow) throws -> PastRecord {
        PastRecord(
            id: try row.rowID(0), protection: try row.value(1), generation: try row.number(2),
            masterKeyGeneration: try row.number(3),
            secretRow: try row.optionalNumber(4).map(RowID.init(rawValue:)), tag: try row.tag(5),
            info: try row.sealed(nonceAndTag: 6, ciphertext: 8), secretSeals: try row.chunkSeals(7),
            metadata: try row.bytes(9))
    }
}

/// Item keys.
extension SQLiteRecords {
    func itemKeys(after: ItemKeyRecord.Position?, limit: Int) throws(KeychainFault) -> ItemKeyPage {
        let (condition, arguments) =
            after.map {
                ("(item, kind) > (?, ?)", [SQLValue.row($0.item), .integer($0.kind)])
            } ?? ("true", [])
        let sql = """
            SELECT item, kind, \(ValueLimit.bounded("tag")) FROM item_key NOT INDEXED WHERE \(condition) ORDER BY item, kind LIMIT ?
            """
        var page = ItemKeyPage()
        let found = try rows(sql, arguments + [.limit(limit)]) { row in
            guard !row.isNull(0), let item = try? row.rowID(0), let kind = try? row.number(1) else { return false }
            page.last = ItemKeyRecord.Position(item: item, kind: kind)
            guard let tag = try? row.tag(2) else { return false }
            page.records.append(ItemKeyRecord(item: item, kind: kind, tag: tag))
            return true
        }
        page.malformed = found.count { !$0 }
        if found.count < limit { page.last = nil }
        return page
    }

    func itemKeys(of item: RowID) throws(KeychainFault) -> [ItemKeyRecord] {
        try rows("SELECT kind, tag FROM item_key NOT INDEXED WHERE item = ? ORDER BY kind", [.row(item)]) { row in
            ItemKeyRecord(item: item, kind: try row.number(0), tag: try row.tag(1))
        }
    }

    func itemKeyCount() throws(KeychainFault) -> Int {
        try row("SELECT count(*) FROM item_key NOT INDEXED") { Int(try $0.number(0)) } ?? 0
    }

    func put(_ key: ItemKeyRecord) throws(KeychainFault) {
        try execute(
            "INSERT INTO item_key (item, kind, tag) VALUES (?1, ?2, ?3) ON CONFLICT (item, kind) DO UPDATE SET tag = ?3",
            [.row(key.position.item), .integer(key.position.kind), .blob(key.tag)])
    }
}
