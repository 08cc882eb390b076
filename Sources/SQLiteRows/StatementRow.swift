internal import GRDBSQLite

/// A column contains NULL where it must not, or more bytes than the query permits.
package struct InvalidColumn: Error {}

/// The present row of a statement. Columns are addressed by index from 0, and read from SQLite's memory until the next
/// step.
///
/// Source: <https://www.sqlite.org/c3ref/column_blob.html>. A value of another type is converted by SQLite's rules.
@safe package struct StatementRow: ~Escapable {
    private let statement: OpaquePointer

    /// - Precondition: The statement remains at this row during the lifetime of the value.
    @_lifetime(immortal)
    init(_ statement: OpaquePointer) { unsafe self.statement = statement }

    package func integer(_ index: Int) throws(InvalidColumn) -> Int64 {
        guard !isNull(index) else { throw InvalidColumn() }
        return unsafe sqlite3_column_int64(statement, Int32(clamping: index))
    }

    package func isNull(_ index: Int) -> Bool {
        unsafe sqlite3_column_type(statement, Int32(clamping: index)) == SQLITE_NULL
    }

    /// Returns a copy; nil for NULL.
    package func optionalBytes(_ index: Int) -> [UInt8]? {
        guard !isNull(index) else { return nil }
        let index = Int32(clamping: index)
        // In this order, because the first call converts the value.
        guard let start = unsafe sqlite3_column_blob(statement, index) else { return [] }
        let count = unsafe Int(sqlite3_column_bytes(statement, index))
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }
}
