internal import GRDB
package import Keychain

extension SQLiteRecordStore {
    /// A store without a row in the empty file at `path`. Durability, and its name, are left to the caller.
    package static func create(inEmptyFile path: String) throws(StoreOpenError) -> SQLiteRecordStore {
        SQLiteRecordStore(try Connection.create(try StoreFile(path: path)), isReadOnly: false)
    }

    /// Whatever can still be read of a store with damaged pages, row by row, in the empty file at `path`.
    ///
    /// No row is looked into. What comes of it serves to be read: it lacks the indexes that say that tags are unique,
    /// which rows of a damaged file may not be.
    package func salvage(to path: String) throws(KeychainError) -> SQLiteRecordStore {
        let copy: SQLiteRecordStore
        do throws(StoreOpenError) {
            copy = try Self.create(inEmptyFile: path)
        } catch {
            throw error == .diskFull ? .diskFull : .io(0)
        }
        do throws(KeychainError) {
            let (source, target) = (try current(), try copy.current())
            try source.perform { db throws(KeychainError) in
                try target.perform { copy throws(KeychainError) in
                    try KeychainError.mapping { try Salvage(from: db, to: copy).run() }
                }
            }
            return copy
        } catch {
            copy.close()
            throw error
        }
    }
}

/// Copies what can be read of one database to another, by every way that leads to a row.
private struct Salvage {
    /// A table, in which order its rows lie, and the indexes that tell their numbers.
    private struct Table {
        let name: String
        let key: [String]
        var indexes: [(name: String, column: String)] = []
    }

    private static let tables = [
        Table(name: "store", key: ["id"]), Table(name: "slot", key: ["id"]), Table(name: "device", key: ["id"]),
        Table(name: "class_key", key: ["purpose", "generation", "device", "wrapping"]),
        Table(name: "user_key", key: ["generation"]),
        Table(
            name: "directory", key: ["id"],
            indexes: [("directory_tag", "tag"), ("directory_parent", "parent")]),
        Table(name: "item", key: ["id"], indexes: [("item_tag", "tag"), ("item_directory", "directory")]),
        Table(name: "secret", key: ["item"]),
    ]
    private static let uniqueIndexes = ["directory_tag", "directory_always_tag", "item_tag", "item_always_tag"]

    private let source: Database
    private let copy: Database

    init(from source: Database, to copy: Database) {
        self.source = source
        self.copy = copy
    }

    func run() throws {
        for index in Self.uniqueIndexes { try copy.execute(sql: "DROP INDEX \(index)") }
        try copy.inTransaction {
            for table in Self.tables { try save(table) }
            return .commit
        }
    }

    /// Rows where the tree says that they are first; then those that lie elsewhere.
    private func save(_ table: Table) throws {
        let select = "SELECT * FROM \(table.name) NOT INDEXED"
        for index in table.indexes {
            var ids: [Int64] = []
            let sql = "SELECT id FROM \(table.name) INDEXED BY \(index.name) ORDER BY \(index.column)"
            try scan(sql, []) { row in ids.append(try row.decode(Int64.self, atIndex: 0)) }
            for id in ids { try scan(select + " WHERE id = ?", [id]) { row in try put(row, in: table) } }
        }
        for direction in ["ASC", "DESC"] {
            let order = table.key.map { $0 + " " + direction }.joined(separator: ", ")
            try scan(select + " ORDER BY " + order, []) { row in try put(row, in: table) }
        }
    }

    /// Up to the first page that is damaged.
    private func scan(_ sql: String, _ arguments: StatementArguments, _ body: (Row) throws -> Void) throws {
        do {
            let cursor = try Row.fetchCursor(source.cachedStatement(sql: sql), arguments: arguments)
            while let row = try cursor.next() { try body(row) }
        } catch {
            guard KeychainError(storage: error) == .decode else { throw error }
        }
    }

    /// A row that no such table can have is none.
    private func put(_ row: Row, in table: Table) throws {
        let places = row.columnNames.map { _ in "?" }.joined(separator: ", ")
        let statement = try copy.cachedStatement(sql: "INSERT OR IGNORE INTO \(table.name) VALUES (\(places))")
        do {
            try statement.execute(arguments: StatementArguments(Array(row.databaseValues)))
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            return
        }
    }
}
