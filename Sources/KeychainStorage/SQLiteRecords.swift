internal import Foundation
internal import GRDB
internal import Keychain

/// The records of one open database, within one call of the store: reads always, writes within a transaction.
///
/// Statements are prepared once per connection and found again by their text.
struct SQLiteRecords: RecordWriter {
    let db: Database

    /// The rows of `sql`, each made a record while the statement stands on it.
    func rows<Record>(
        _ sql: String, _ arguments: StatementArguments = [], _ record: (Row) throws -> Record
    ) throws(KeychainError) -> [Record] {
        try KeychainError.mapping {
            let cursor = try Row.fetchCursor(try db.cachedStatement(sql: sql), arguments: arguments)
            var records: [Record] = []
            while let row = try cursor.next() { records.append(try record(row)) }
            return records
        }
    }

    /// The first row of `sql`.
    func row<Record>(
        _ sql: String, _ arguments: StatementArguments = [], _ record: (Row) throws -> Record
    ) throws(KeychainError) -> Record? {
        try KeychainError.mapping {
            let cursor = try Row.fetchCursor(try db.cachedStatement(sql: sql), arguments: arguments)
            return try cursor.next().map(record)
        }
    }

    /// Executes `sql`; returns how many rows it changed.
    @discardableResult
    func execute(_ sql: String, _ arguments: StatementArguments) throws(KeychainError) -> Int {
        try KeychainError.mapping {
            try db.cachedStatement(sql: sql).execute(arguments: arguments)
            return db.changesCount
        }
    }
}

extension SQLiteRecords {
    func itemCount() throws(KeychainError) -> Int {
        try row("SELECT count(*) FROM item") { try $0.decode(Int.self, atIndex: 0) } ?? 0
    }

    func itemCount(of protection: Protection, generation: Int64) throws(KeychainError) -> Int {
        try row(
            "SELECT count(*) FROM item WHERE protection = ? AND generation = ?",
            [Int64(protection.rawValue), generation]
        ) { try $0.decode(Int.self, atIndex: 0) } ?? 0
    }

    func itemIDs(of protection: Protection, limit: Int) throws(KeychainError) -> [RowID] {
        try rows("SELECT id FROM item WHERE protection = ? LIMIT ?", [Int64(protection.rawValue), max(0, limit)]) {
            try $0.rowID(0)
        }
    }

    func highestRowID() throws(KeychainError) -> RowID {
        let sql = """
            SELECT max(highest, coalesce((SELECT max(id) FROM item), 0), coalesce((SELECT max(id) FROM directory), 0)) \
            FROM row_sequence
            """
        guard let id = try row(sql, [], { try $0.rowID(0) }) else { throw .decode }
        return id
    }

    /// Remembers the id of a row that goes, for ``highestRowID()``. An insertion needs no such note.
    func retire(_ id: RowID) throws(KeychainError) {
        try execute("UPDATE row_sequence SET highest = ?1 WHERE highest < ?1", [id.rawValue])
    }
}
