package import GRDB
internal import GRDBSQLite

extension Database {
    /// Returns how many pages this connection has written since the previous call, in WAL mode to the log: `SQLITE_DBSTATUS_CACHE_WRITE`
    /// of sqlite3_db_status (<https://www.sqlite.org/c3ref/c_dbstatus_options.html>).
    package func takePagesWritten() -> Int {
        var (current, highest): (Int32, Int32) = (0, 0)
        guard let connection = unsafe sqliteConnection else { return 0 }
        unsafe sqlite3_db_status(connection, SQLITE_DBSTATUS_CACHE_WRITE, &current, &highest, 1)
        return Int(current)
    }

    /// Frees the cached pages that no statement uses and no transaction has changed. They are read from the file again:
    /// <https://www.sqlite.org/c3ref/db_release_memory.html>
    package func forgetPages() {
        guard let connection = unsafe sqliteConnection else { return }
        unsafe sqlite3_db_release_memory(connection)
    }
}
