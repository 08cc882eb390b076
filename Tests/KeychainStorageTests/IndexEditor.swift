import Foundation
import GRDB
import Testing

/// Edits the entries of an index and leaves the rows alone, as a damaged disk or a hostile program would.
///
/// An index has the same b-tree as a table WITHOUT ROWID of the columns (key, row number): for the time of an edit the schema says
/// that it is one. Source: <https://www.sqlite.org/fileformat2.html#representation_of_sql_indices>
struct IndexEditor {
    private let database: ClosedDatabase

    init(_ path: String) { database = ClosedDatabase(path: path) }

    /// Executes `sql` on the entries of `index`, which it knows as table `entries` of the columns `key` and `id`; for
    /// item keys also `kind`.
    func edit(_ index: String, key type: String = "BLOB", _ sql: String, _ arguments: StatementArguments = []) throws {
        let schema = try database.perform { db in
            let sql = "SELECT sql, tbl_name FROM sqlite_schema WHERE name = ?"
            let row = try Row.fetchOne(db, sql: sql, arguments: [index])
            return (try #require(row?["sql"] as String?), try #require(row?["tbl_name"] as String?))
        }
        let columns = schema.1 == "item_key" ? ["key", "id", "kind"] : ["key", "id"]
        let table = """
            CREATE TABLE entries (key \(type), \(columns.dropFirst().map { "\($0) INTEGER" }.joined(separator: ", ")), \
            PRIMARY KEY (\(columns.joined(separator: ", ")))) WITHOUT ROWID
            """
        try rewrite(index, as: ("table", "entries", "entries", table))
        try database.perform { try $0.execute(sql: sql, arguments: arguments) }
        try rewrite("entries", as: ("index", index, schema.1, schema.0))
    }

    /// The entries of two keys lead to each other's rows.
    func exchange(_ index: String, _ first: [UInt8], _ second: [UInt8]) throws {
        try edit(
            index,
            """
            CREATE TEMP TABLE old AS SELECT key, id FROM entries WHERE key IN (?1, ?2); \
            DELETE FROM entries WHERE key IN (SELECT key FROM old); \
            INSERT INTO entries SELECT one.key, other.id FROM old AS one JOIN old AS other ON one.key <> other.key
            """, [first.databaseValue, second.databaseValue])
    }

    private func rewrite(_ name: String, as row: (type: String, name: String, table: String, sql: String)) throws {
        try database.perform { db in
            try db.execute(sql: "PRAGMA writable_schema = ON")
            try db.execute(
                sql: "UPDATE sqlite_schema SET type = ?, name = ?, tbl_name = ?, sql = ? WHERE name = ?",
                arguments: [row.type, row.name, row.table, row.sql, name])
        }
    }
}

extension [UInt8] {
    fileprivate var databaseValue: DatabaseValue { Data(self).databaseValue }
}
