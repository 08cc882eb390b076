internal import Keychain
internal import SQLiteRows
internal import SecretCrypto

extension SQLiteRecords {
    private static let itemColumns = """
        id, directory, version, protection, generation, master_key_generation, secret_row, tag, always_tag, ephemeral, \
        mac, metadata_seal, secret_seals, metadata
        """
    private static let itemSelect = "SELECT \(itemColumns) FROM item WHERE"
    static let itemByID = itemSelect + " id = ?"
    /// Takes row numbers from an index, and all columns from the rows with these numbers. A plain query would read
    /// indexed columns from the index, where they always match the search. Read from the row, they show whether the
    /// index refers to the right one. A number without a row yields NULL in all columns: ``KeychainFault/decode``.
    private static let indexedItemSelect = """
        SELECT item.id, item.directory, item.version, item.protection, item.generation, item.master_key_generation, \
        item.secret_row, item.tag, item.always_tag, item.ephemeral, item.mac, item.metadata_seal, item.secret_seals, \
        item.metadata \
        FROM item AS entry LEFT JOIN item ON item.id = entry.id WHERE
        """
    static let itemByTag = indexedItemSelect + " entry.tag = ?"
    static let itemByAlwaysTag = indexedItemSelect + " entry.always_tag = ?"
    static let itemsOfDirectory = indexedItemSelect + " entry.directory = ? AND entry.id > ? ORDER BY entry.id LIMIT ?"
    static let itemsInOrder = itemSelect + " id > ? ORDER BY id LIMIT ?"
    static let itemWithSecret = """
        SELECT \(itemColumns), \(ciphertext) FROM item WHERE id = ?
        """
    static let secretOfItem = "SELECT \(ciphertext) FROM item WHERE id = ?"
    /// NULL, as for an item without a secret, if there are two ciphertexts, or one that is not where its size puts it, or is
    /// longer than the chunks that have a seal.
    static let ciphertext = """
        CASE WHEN secret_row IS NULL THEN \(ValueLimit.bounded("secret", to: ItemRecord.longestShortSecret)) \
        WHEN secret IS NULL THEN (SELECT ciphertext FROM secret \
        WHERE id = secret_row AND typeof(ciphertext) = 'blob' AND length(ciphertext) > \(ItemRecord.longestShortSecret) \
        AND length(ciphertext) <= length(secret_seals) / \(ChunkSeals.sealCount) * \(SecretChunks.size)) END
        """

    func item(id: RowID) throws(KeychainFault) -> ItemRecord? {
        try row(Self.itemByID, [.row(id)], Self.item)
    }

    func item(tag: [UInt8], always: Bool) throws(KeychainFault) -> ItemRecord? {
        let found = try row(always ? Self.itemByAlwaysTag : Self.itemByTag, [.blob(tag)], Self.item)
        guard let found else { return nil }
        guard (always ? found.alwaysTag : found.tag) == tag else { throw .decode }
        return found
    }

    func items(directory: RowID, after: RowID, limit: Int) throws(KeychainFault) -> [ItemRecord] {
        try page(Self.itemsOfDirectory, [.row(directory)], after: after, limit: limit) { row in
            let item = try Self.item(row)
            guard item.directory == directory else { throw KeychainFault.decode }
            return item
        }
    }

    func itemIDs(directory: RowID, after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        try page(
            "SELECT id FROM item WHERE directory = ? AND id > ? ORDER BY id LIMIT ?", [.row(directory)],
            after: after, limit: limit
        ) { try $0.rowID(0) }
    }

    func items(after: RowID, limit: Int) throws(KeychainFault) -> [ItemRecord] {
        try page(Self.itemsInOrder, after: after, limit: limit, Self.item)
    }

    func itemIDs(after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        try page("SELECT id FROM item WHERE id > ? ORDER BY id LIMIT ?", after: after, limit: limit) {
            try $0.rowID(0)
        }
    }

    func itemWithSecret(id: RowID) throws(KeychainFault) -> (item: ItemRecord, secret: [UInt8])? {
        do throws(KeychainFault) {
            return try row(Self.itemWithSecret, [.row(id)]) { row in (try Self.item(row), row.optionalBytes(14) ?? []) }
        } catch {
            // Contents may be longer than any other column.
            guard error == .decode, let item = try item(id: id) else { throw error }
            return (item, try secret(of: id))
        }
    }

    func secret(of item: RowID) throws(KeychainFault) -> [UInt8] {
        try row(Self.secretOfItem, [.row(item)], longestValue: ValueLimit.row) { $0.optionalBytes(0) ?? [] } ?? []
    }

    static let alwaysItem = "SELECT 1 FROM item WHERE directory = ? AND always_tag IS NOT NULL LIMIT 1"
    static let ephemeralItems = "SELECT id FROM item WHERE ephemeral IS NOT NULL AND id > ? ORDER BY id LIMIT ?"

    func holdsAlwaysItem(_ directory: RowID) throws(KeychainFault) -> Bool {
        try row(Self.alwaysItem, [.row(directory)]) { _ in true } ?? false
    }

    /// UNION instead of UNION ALL, so that directories in a cycle occur once.
    static let itemClasses = """
        WITH RECURSIVE below (id) AS (VALUES (?) \
        UNION SELECT directory.id FROM below JOIN directory ON directory.parent = below.id) \
        SELECT DISTINCT protection, generation FROM item WHERE directory IN below
        """

    func itemClasses(below directory: RowID) throws(KeychainFault) -> [(protection: ProtectionClass, generation: Int64)]
    {
        let found = try rows(Self.itemClasses, [.row(directory)]) { row in
            (ProtectionClass(rawValue: UInt8(clamping: try row.number(0))), try row.number(1))
        }
        return found.compactMap { protection, generation in protection.map { ($0, generation) } }
    }

    func ephemeralItems(after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        try page(Self.ephemeralItems, after: after, limit: limit) { try $0.rowID(0) }
    }

    func put(_ item: ItemRecord, secret: [UInt8]?) throws(KeychainFault) {
        let isLong = secret.map { $0.count > ItemRecord.longestShortSecret }
        guard isLong == nil || isLong == (item.secretRow != nil) else { throw .param }
        if secret != nil { try deleteLongSecret(of: item.id, except: item.secretRow) }
        let arguments = Self.arguments(item, secret: secret)
        // SQLite rewrites the index entries of every column that a statement sets, changed or not. A first version is a
        // new row.
        let updated = item.version == 1 ? 0 : try execute(Self.updateItem, arguments)
        if updated == 0 {
            if try itemExists(item.id) { erasures?.note() }
            try execute(Self.insertItem, arguments)
        } else {
            erasures?.note()
        }
        if let secret, let row = item.secretRow { try putLongSecret(secret, row: row) }
    }

    /// Inserts or replaces the ciphertext of a secret that has its own row.
    func putLongSecret(_ secret: [UInt8], row: RowID) throws(KeychainFault) {
        try execute(
            """
            INSERT INTO secret (id, ciphertext) VALUES (?1, ?2) \
            ON CONFLICT (id) DO UPDATE SET ciphertext = excluded.ciphertext
            """,
            [.row(row), .blob(secret)])
    }

    /// Updates the row if it exists with the same tags and in the same directory. ?16 states whether there is a new
    /// secret.
    private static let updateItem = """
        UPDATE item SET version = ?3, protection = ?4, generation = ?5, master_key_generation = ?6, secret_row = ?7, \
        ephemeral = ?10, mac = ?11, metadata_seal = ?12, secret_seals = ?13, metadata = ?14, \
        secret = CASE WHEN ?16 THEN ?15 ELSE secret END \
        WHERE id = ?1 AND directory = ?2 AND tag = ?8 AND always_tag IS ?9
        """
    private static let insertItem = """
        INSERT INTO item (id, directory, version, protection, generation, master_key_generation, secret_row, tag, \
        always_tag, ephemeral, mac, metadata_seal, secret_seals, metadata, secret) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) \
        ON CONFLICT (id) DO UPDATE SET directory = ?2, version = ?3, protection = ?4, generation = ?5, \
        master_key_generation = ?6, secret_row = ?7, tag = ?8, always_tag = ?9, ephemeral = ?10, mac = ?11, \
        metadata_seal = ?12, secret_seals = ?13, metadata = ?14, secret = CASE WHEN ?16 THEN ?15 ELSE secret END
        """

    private static func arguments(_ item: ItemRecord, secret: [UInt8]?) -> [SQLValue] {
        let short = secret.flatMap { $0.isEmpty || item.secretRow != nil ? nil : $0 }
        return [
            .row(item.id), .row(item.directory), .integer(item.version), .integer(Int64(item.protection.rawValue)),
            .integer(item.generation), .optional(item.masterKeyGeneration), .optional(item.secretRow?.rawValue),
            .blob(item.tag), .blob(item.alwaysTag), .blob(item.ephemeral), .blob(item.mac),
            .nonceAndTag(item.metadata.nonceAndTag), .blob(item.secretSeals.bytes),
            .blob(item.metadata.ciphertext), .blob(short), .integer(secret == nil ? 0 : 1),
        ]
    }

    private func itemExists(_ id: RowID) throws(KeychainFault) -> Bool {
        try row("SELECT 1 FROM item WHERE id = ?", [.row(id)]) { _ in true } ?? false
    }

    func deleteItem(_ id: RowID) throws(KeychainFault) {
        erasures?.note()
        try deleteLongSecret(of: id, except: nil)
        try execute("DELETE FROM item WHERE id = ?", [.row(id)])
        try execute("DELETE FROM item_key WHERE item = ?", [.row(id)])
    }

    /// Must be called before the item's row is changed, which contains the number of the secret's row.
    private func deleteLongSecret(of item: RowID, except row: RowID?) throws(KeychainFault) {
        try execute(
            "DELETE FROM secret WHERE id = (SELECT secret_row FROM item WHERE id = ?1) AND id IS NOT ?2",
            [.row(item), .optional(row?.rawValue)])
    }

    private static func item(_ row: borrowing StatementRow) throws -> ItemRecord {
        ItemRecord(
            id: try row.rowID(0), directory: try row.rowID(1), version: try row.number(2),
            protection: try row.value(3), generation: try row.number(4),
            masterKeyGeneration: try row.optionalNumber(5),
            secretRow: try row.optionalNumber(6).map(RowID.init(rawValue:)), tag: try row.tag(7),
            alwaysTag: try row.optionalTag(8), ephemeral: row.optionalBytes(9), mac: row.optionalBytes(10),
            metadata: try row.sealed(nonceAndTag: 11, ciphertext: 13), secretSeals: try row.chunkSeals(12))
    }
}
