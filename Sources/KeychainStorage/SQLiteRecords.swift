internal import GRDB
internal import Keychain
internal import SQLiteRows

/// The records of one open database, within one call of the store: for reading always, for writing within a
/// transaction.
///
/// Statements are prepared once per connection and cached by their text.
struct SQLiteRecords: RecordWriter {
    let db: Database
    /// The flag of the transaction; nil for reads.
    var erasures: ErasureFlag?

    /// Returns the rows of `sql`, each decoded at the present row of the statement. A row with a value of more than
    /// ``ValueLimit/column`` bytes is ``KeychainFault/decode``.
    func rows<Record>(
        _ sql: String, _ arguments: [SQLValue] = [], _ record: (borrowing StatementRow) throws -> Record
    ) throws(KeychainFault) -> [Record] {
        try KeychainFault.mapping(db) {
            var records: [Record] = []
            try db.forEachRow(sql, arguments, longestValue: ValueLimit.column) { row in
                records.append(try record(row))
                return true
            }
            return records
        }
    }

    /// Returns at most `limit` rows after a row number, in the order of their numbers.
    ///
    /// The statement returns the number first, and takes the row number and the limit as its last arguments. In a
    /// damaged file rows may be in any order. Continuing after the last one would miss some, or never end: that is
    /// ``KeychainFault/decode``.
    func page<Record>(
        _ sql: String, _ arguments: [SQLValue] = [], after: RowID, limit: Int,
        _ record: (borrowing StatementRow) throws -> Record
    ) throws(KeychainFault) -> [Record] {
        var last = after
        return try rows(sql, arguments + [.row(after), .limit(limit)]) { row in
            let id = try row.rowID(0)
            guard id > last else { throw KeychainFault.decode }
            last = id
            return try record(row)
        }
    }

    /// Returns the rows of `sql`, ignoring malformed ones: a damaged key makes unreadable what it seals, not the whole
    /// store. The digest detects that it is missing.
    func wellFormedRows<Record>(
        _ sql: String, _ record: (borrowing StatementRow) throws -> Record
    ) throws(KeychainFault) -> [Record] {
        let found = try rows(sql) { row -> Record? in
            do throws(KeychainFault) {
                return try KeychainFault.mapping(db) { try record(row) }
            } catch .decode {
                return nil
            }
        }
        return found.compactMap { $0 }
    }

    /// Returns the first row of `sql`. A value of more than `longestValue` bytes is ``KeychainFault/decode``.
    func row<Record>(
        _ sql: String, _ arguments: [SQLValue] = [], longestValue: Int = ValueLimit.column,
        _ record: (borrowing StatementRow) throws -> Record
    ) throws(KeychainFault) -> Record? {
        try KeychainFault.mapping(db) {
            var found: Record?
            try db.forEachRow(sql, arguments, longestValue: longestValue) { row in
                found = try record(row)
                return false
            }
            return found
        }
    }

    /// Executes `sql`. Returns the number of changed rows.
    @discardableResult
    func execute(_ sql: String, _ arguments: [SQLValue]) throws(KeychainFault) -> Int {
        // SQLite may have rolled back on its own (full disk); further statements would be separate transactions.
        guard db.isInsideTransaction else { throw .io(ResultCode.SQLITE_ABORT.rawValue) }
        return try KeychainFault.mapping(db) { try db.change(sql, arguments) }
    }
}

extension SQLiteRecords {
    func itemCount() throws(KeychainFault) -> Int {
        try row("SELECT count(*) FROM item NOT INDEXED") { Int(try $0.number(0)) } ?? 0
    }

    func directoryCount() throws(KeychainFault) -> Int {
        try row("SELECT count(*) FROM directory NOT INDEXED") { Int(try $0.number(0)) } ?? 0
    }

    func itemCounts(of generations: Set<KeyGeneration>) throws(KeychainFault) -> [KeyGeneration: Int] {
        let sql = """
            SELECT protection, generation, count(*) FROM item WHERE \(Self.isOf(generations)) GROUP BY 1, 2
            """
        let counts = try rows(sql) { row in (try row.keyGeneration(0), Int(try row.number(2))) }
        return Dictionary(counts) { $1 }
    }

    func usedKeys(of generations: Set<KeyGeneration>) throws(KeychainFault) -> Set<KeyGeneration> {
        func used(_ table: String) throws(KeychainFault) -> [KeyGeneration] {
            let sql = "SELECT DISTINCT protection, generation FROM \(table) WHERE \(Self.isOf(generations))"
            return try rows(sql) { try $0.keyGeneration(0) }
        }
        return Set(try used("item") + used("past"))
    }

    func rowCounts(of old: OldKeys) throws(KeychainFault) -> OldRowCounts {
        func count(_ table: String, _ condition: String) throws(KeychainFault) -> Int {
            try row("SELECT count(*) FROM \(table) WHERE \(condition)") { Int(try $0.number(0)) } ?? 0
        }
        let masters = "master_key_generation < \(old.masterGeneration)"
        return OldRowCounts(
            items: try count("item", Self.isUnder(old)), directories: try count("directory", masters),
            past: try count("past", Self.isUnder(old)))
    }

    func itemIDs(of old: OldKeys, after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        let sql = "SELECT id FROM item WHERE id > ? AND \(Self.isUnder(old)) ORDER BY id LIMIT ?"
        return try page(sql, after: after, limit: limit) { try $0.rowID(0) }
    }

    func directoryIDs(of old: OldKeys, after: RowID, limit: Int) throws(KeychainFault) -> [RowID] {
        let masters = "master_key_generation < \(old.masterGeneration)"
        let sql = "SELECT id FROM directory WHERE id > ? AND \(masters) ORDER BY id LIMIT ?"
        return try page(sql, after: after, limit: limit) { try $0.rowID(0) }
    }

    static func isUnder(_ old: OldKeys) -> String {
        "(\(isOf(old.generations)) OR master_key_generation < \(old.masterGeneration))"
    }

    /// The numbers are part of the statement, which is cached for each set.
    private static func isOf(_ generations: Set<KeyGeneration>) -> String {
        let pairs = generations.map { "(\($0.protection.rawValue), \($0.generation))" }.sorted()
        return "(protection, generation) IN (VALUES \((["(NULL, NULL)"] + pairs).joined(separator: ", ")))"
    }

    func itemIDs(of protection: ProtectionClass, limit: Int) throws(KeychainFault) -> [RowID] {
        try rows(
            "SELECT id FROM item WHERE protection = ? LIMIT ?", [.integer(Int64(protection.rawValue)), .limit(limit)]
        ) {
            try $0.rowID(0)
        }
    }

    /// All row numbers that are in use.
    private static let usedRowIDs = ["item", "directory", "past", "secret"].map { "SELECT id FROM \($0) NOT INDEXED" }
        .joined(separator: " UNION ALL ")

    func firstUnusedRowID(from next: RowID) throws(KeychainFault) -> RowID {
        let end = RowID.lastUsual.rawValue + RowID.tableCapacity
        let highest = ["item", "directory", "past", "secret"]
            .map { "coalesce((SELECT max(id) FROM \($0) WHERE id < ?1), 0)" }.joined(separator: ", ")
        guard let id = try row("SELECT max(\(highest))", [.integer(end)], { try $0.rowID(0) }) else { throw .decode }
        return id < .lastUsual ? max(next, id.next) : try unusedRowID(from: next, below: end)
    }

    func rowCount(_ ids: ClosedRange<RowID>) throws(KeychainFault) -> Int {
        let sql = "SELECT count(*) FROM (\(Self.usedRowIDs)) WHERE id BETWEEN ? AND ?"
        return try row(sql, [.row(ids.lowerBound), .row(ids.upperBound)]) { Int(try $0.number(0)) } ?? 0
    }

    /// Searches all rows: for a store in which a row has a number that was never assigned.
    private func unusedRowID(from next: RowID, below end: Int64) throws(KeychainFault) -> RowID {
        let sql = """
            WITH used (id) AS (\(Self.usedRowIDs) UNION ALL SELECT ?1) \
            SELECT max(id) FROM (SELECT id, lead(id, 1, ?2) OVER (ORDER BY id) AS next FROM used WHERE id < ?2) \
            WHERE next - id > ?3 AND id >= ?1
            """
        let last = RowID(rawValue: next.rawValue - 1)
        let found = try row(sql, [.row(last), .integer(end), .integer(RowID.tableCapacity)]) { row in
            row.isNull(0) ? nil : try row.rowID(0)
        }
        guard case .some(.some(let id)) = found else { throw .decode }
        return id.next
    }
}

/// Whether a transaction has deleted or overwritten data that must not remain in the log.
final class ErasureFlag {
    private(set) var isSet = false

    func note() { isSet = true }
}
