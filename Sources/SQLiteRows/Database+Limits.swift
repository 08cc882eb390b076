internal import CSQLiteRows
package import GRDB
internal import GRDBSQLite

extension Database {
    /// Prepares the connection for a file from an untrusted source: <https://www.sqlite.org/security.html>. Statements
    /// that damage the schema fail, triggers and views are ignored, and statements and rows are limited in size.
    ///
    /// - Parameter longestValue: See ``limitValues(to:)``.
    /// - Throws: `DatabaseError`.
    package func limitUntrustedFile(longestValue: Int) throws {
        guard let connection = unsafe sqliteConnection else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
        let result = unsafe sqlite_rows_set_defensive(connection)
        guard result == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: result)) }
        limitValues(to: longestValue)
        for (limit, value) in Self.limits { unsafe sqlite3_limit(connection, limit, value) }
    }

    /// Sets the maximum size of a value, and of a row that is written, in bytes. A longer one fails with SQLITE_TOOBIG.
    package func limitValues(to longest: Int) {
        guard let connection = unsafe sqliteConnection else { return }
        unsafe sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, Int32(clamping: longest))
    }

    /// <https://www.sqlite.org/c3ref/c_limit_attached.html>
    private static let limits: [(Int32, Int32)] = [
        (SQLITE_LIMIT_SQL_LENGTH, 100_000), (SQLITE_LIMIT_COLUMN, 100), (SQLITE_LIMIT_EXPR_DEPTH, 50),
        (SQLITE_LIMIT_COMPOUND_SELECT, 10), (SQLITE_LIMIT_VDBE_OP, 25_000), (SQLITE_LIMIT_FUNCTION_ARG, 8),
        // VACUUM INTO attaches the copy.
        (SQLITE_LIMIT_ATTACHED, 1), (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50), (SQLITE_LIMIT_VARIABLE_NUMBER, 100),
        (SQLITE_LIMIT_TRIGGER_DEPTH, 1), (SQLITE_LIMIT_WORKER_THREADS, 0),
    ]
}
