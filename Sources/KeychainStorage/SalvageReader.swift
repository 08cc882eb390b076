internal import Foundation
internal import GRDB

/// Reads the rows that SQLite still finds in a damaged file. Pages do not show which of two rows with one number is the
/// valid one. SQLite also reads rows with too many columns, or values of other types.
struct SalvageReader {
    /// The column with the row number, by table.
    private static let tables = [
        "store": "id", "slot": "id", "device": "id", "user_key": "generation", "directory": "id", "item": "id",
        "past": "id", "secret": "id",
    ]

    /// The tables that an unlock reads completely.
    private static let keyTables: Set = ["store", "slot", "device", "user_key"]

    /// The maximum number of bytes read, as a multiple of the file's size. More means that rows overlap.
    private static let overlap = 4

    private let source: Database
    /// The number of bytes of rows that may still be read.
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
            try addRows(of: "class_key", to: copy)
            try addRows(of: "item_key", to: copy)
            return .commit
        }
    }

    private mutating func replace(_ table: String, _ key: String, in copy: Database) throws {
        let columns = try copy.columns(in: table)
        let values = columns.map { $0.asRead($0.name) }.joined(separator: ", ")
        let insert = "INSERT OR REPLACE INTO \(table) VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
        for id in try ids(table, key, in: copy) {
            guard budget > 0 else { return }
            guard let row = try rows("SELECT \(values) FROM \(table) WHERE \(key) = ?", [id]).first else { continue }
            try put(row, insert, in: copy)
        }
    }

    private mutating func ids(_ table: String, _ key: String, in copy: Database) throws -> [Int64] {
        let sql = "SELECT \(key) FROM \(table)"
        let known = try Int64.fetchAll(copy, sql: sql)
        guard Self.keyTables.contains(table) else { return known }
        let listed = try rows(sql).compactMap { Int64.fromDatabaseValue($0[0]) }
        return known + Set(listed).subtracting(known)
    }

    /// Adds rows that have no number. Those that were recovered from the pages exist already.
    private mutating func addRows(of table: String, to copy: Database) throws {
        let columns = try source.columns(in: table)
        let values = columns.map { $0.asRead($0.name) }.joined(separator: ", ")
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        let insert = "INSERT OR REPLACE INTO \(table) SELECT \(places) EXCEPT SELECT * FROM \(table)"
        for row in try rows("SELECT \(values) FROM \(table)") { try put(row, insert, in: copy) }
    }

    /// Reads rows until the first unreadable one. Throws if the disk fails.
    private mutating func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [[DatabaseValue]] {
        var found: [[DatabaseValue]] = []
        do {
            let cursor = try Row.fetchCursor(source.cachedStatement(sql: sql), arguments: arguments)
            while budget > 0, let row = try cursor.next() {
                let values = Array(row.databaseValues)
                budget -= values.reduce(0) { $0 + (Data.fromDatabaseValue($1)?.count ?? 8) }
                found.append(values)
            }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
        }
        return found
    }

    /// Inserts a row. A row that the table refuses is ignored. Throws if the disk is full.
    private func put(_ row: [DatabaseValue], _ insert: String, in copy: Database) throws {
        do {
            try copy.cachedStatement(sql: insert).execute(arguments: StatementArguments(row))
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            return
        }
    }
}
