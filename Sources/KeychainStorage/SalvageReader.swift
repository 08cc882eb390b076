internal import Foundation
internal import GRDB

/// What SQLite still finds. Pages do not tell which of two rows of one number it is that was written under it; and it reads
/// rows that have more columns than there should be, or other types of values.
struct SalvageReader {
    /// The one column of each that is its row number.
    private static let tables = [
        "store": "id", "slot": "id", "device": "id", "user_key": "generation", "directory": "id", "item": "id",
        "secret": "item",
    ]

    /// Whoever unlocks reads all of these, whatever their numbers.
    private static let keyTables: Set = ["store", "slot", "device", "user_key"]

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
            try addClassKeys(to: copy)
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

    /// They have no number. Those that the pages have, too, are there.
    private mutating func addClassKeys(to copy: Database) throws {
        let columns = try source.columns(in: "class_key")
        let values = columns.map { $0.asRead($0.name) }.joined(separator: ", ")
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        let insert = "INSERT INTO class_key SELECT \(places) EXCEPT SELECT * FROM class_key"
        for row in try rows("SELECT \(values) FROM class_key") { try put(row, insert, in: copy) }
    }

    /// As far as they read. A disk that fails is told.
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

    /// One that the table refuses is none. A full disk is told.
    private func put(_ row: [DatabaseValue], _ insert: String, in copy: Database) throws {
        do {
            try copy.cachedStatement(sql: insert).execute(arguments: StatementArguments(row))
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            return
        }
    }
}
