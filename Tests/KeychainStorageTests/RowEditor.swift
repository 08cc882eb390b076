import Foundation
import GRDB

/// Edits rows of a table and leaves its indexes alone, as a damaged disk does.
///
/// For the time of an edit the schema contains no index of the table, so that SQLite changes the row only.
struct RowEditor {
    private let database: ClosedDatabase

    init(_ path: String) { database = ClosedDatabase(path: path) }

    /// Executes `sql` while `table` has no indexes.
    func edit(_ table: String, _ sql: String) throws {
        let indexes = try database.perform { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT rowid, type, name, tbl_name, rootpage, sql FROM sqlite_schema \
                    WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL
                    """, arguments: [table])
        }
        try database.perform { db in
            try db.execute(sql: "PRAGMA writable_schema = ON")
            for index in indexes {
                try db.execute(sql: "DELETE FROM sqlite_schema WHERE rowid = ?", arguments: [index["rowid"] as Int64])
            }
        }
        try database.perform { try $0.execute(sql: sql) }
        try database.perform { db in
            try db.execute(sql: "PRAGMA writable_schema = ON")
            for index in indexes {
                try db.execute(
                    sql:
                        "INSERT INTO sqlite_schema (rowid, type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, ?, ?, ?)",
                    arguments: StatementArguments(index.databaseValues))
            }
        }
    }
}
