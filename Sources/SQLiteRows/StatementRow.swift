internal import GRDBSQLite

/// A column holds nothing where there should be a value.
package struct MissingColumn: Error {}

/// The row that a statement stands on, its columns by index from 0: read where SQLite has them, until the next step.
///
/// Source: <https://www.sqlite.org/c3ref/column_blob.html>. What is of another type is converted as SQLite does it.
@safe package struct StatementRow: ~Escapable {
    private let statement: OpaquePointer

    /// For as long as the statement stands there.
    @_lifetime(immortal)
    init(_ statement: OpaquePointer) { unsafe self.statement = statement }

    package func integer(_ index: Int) throws(MissingColumn) -> Int64 {
        guard !isNull(index) else { throw MissingColumn() }
        return unsafe sqlite3_column_int64(statement, Int32(clamping: index))
    }

    package func isNull(_ index: Int) -> Bool {
        unsafe sqlite3_column_type(statement, Int32(clamping: index)) == SQLITE_NULL
    }

    /// A copy; nil for NULL.
    package func optionalBytes(_ index: Int) -> [UInt8]? {
        guard !isNull(index) else { return nil }
        let index = Int32(clamping: index)
        // In this order: the first one converts.
        guard let start = unsafe sqlite3_column_blob(statement, index) else { return [] }
        let count = unsafe Int(sqlite3_column_bytes(statement, index))
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }
}
