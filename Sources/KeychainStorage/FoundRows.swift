internal import Foundation
internal import GRDB

/// What SQLite still finds by number. Pages do not tell which of two rows of one number it is that was written under it.
struct FoundRows {
    /// The one column of each that is its row number.
    private static let tables = [
        "store": "id", "slot": "id", "device": "id", "user_key": "generation", "directory": "id", "item": "id",
        "secret": "item",
    ]

    /// So many times the size of the file are read: more means that rows lie over one another.
    private static let overlap = 4

    private let source: Database
    /// Bytes of rows that may be read yet.
    private var budget: Int

    init(in source: Database) throws {
        self.source = source
        let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        let count = try Int.fetchOne(source, sql: sql)
        budget = Self.overlap * (count ?? 0)
    }

    mutating func replace(in copy: Database) throws {
        try copy.inTransaction {
            for (table, key) in Self.tables { try replace(table, key, in: copy) }
            return .commit
        }
    }

    private mutating func replace(_ table: String, _ key: String, in copy: Database) throws {
        let columns = try copy.columns(in: table)
        // One bit makes text of bytes.
        let values = columns.map {
            $0.asRead("CASE typeof(\($0.name)) WHEN 'text' THEN CAST(\($0.name) AS BLOB) ELSE \($0.name) END")
        }
        let select = "SELECT \(values.joined(separator: ", ")) FROM \(table) WHERE \(key) = ?"
        let insert = "INSERT OR REPLACE INTO \(table) VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
        for id in try Int64.fetchAll(copy, sql: "SELECT \(key) FROM \(table)") {
            guard budget > 0 else { return }
            guard let row = try found(id, select) else { continue }
            budget -= row.reduce(0) { $0 + (Data.fromDatabaseValue($1)?.count ?? 8) }
            try put(row, insert, in: copy)
        }
    }

    /// Nil for a row that does not read. A disk that fails is told.
    private func found(_ id: Int64, _ select: String) throws -> [DatabaseValue]? {
        do {
            let row = try Row.fetchOne(source.cachedStatement(sql: select), arguments: [id])
            return row.map { Array($0.databaseValues) }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            return nil
        }
    }

    /// One that the table refuses is none. A full disk is told.
    private func put(_ row: [DatabaseValue], _ insert: String, in copy: Database) throws {
        do {
            try copy.cachedStatement(sql: insert).execute(arguments: StatementArguments(row))
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            return
        }
    }
}
