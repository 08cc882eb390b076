internal import CSQLiteRows
internal import GRDB
internal import GRDBSQLite

/// SQLite's VFS `unix-excl` with precise errors: a failed read does not count as damage, and an exhausted quota counts as a full disk.
package enum DatabaseVFS {
    /// Returns the name of the VFS, which is registered in this process then.
    ///
    /// - Throws: `DatabaseError`.
    package static func name() throws -> String {
        guard let name = unsafe sqlite_disk_errors_vfs() else { throw DatabaseError(resultCode: .SQLITE_ERROR) }
        return unsafe String(cString: name)
    }

    /// Runs `body`, which reports pages that it cannot read as damage.
    ///
    /// - Throws: `DatabaseError` with SQLITE_IOERR_READ if the disk has refused a read by this thread.
    package static func requiringReads<Result>(_ body: () throws -> Result) throws -> Result {
        let before = sqlite_disk_errors_failed_reads()
        let result = try body()
        guard sqlite_disk_errors_failed_reads() == before else { throw DatabaseError(resultCode: .SQLITE_IOERR_READ) }
        return result
    }
}
