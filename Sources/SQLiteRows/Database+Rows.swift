package import GRDB
internal import GRDBSQLite

/// Statements without GRDB's rows and arguments. GRDB looks up the names of all columns at the start of each query,
/// which takes as long as the rest of a short one.
///
/// GRDB prepares a statement once per connection and caches it by its text. Failures throw `DatabaseError`, as GRDB
/// does.
extension Database {
    /// Calls `body` with each row until it returns false.
    ///
    /// - Parameter longestValue: The maximum number of bytes of a value that the query returns or compares. SQLite reads a
    ///   longer one only to its size.
    /// - Throws: ``InvalidColumn`` at a row with a longer value.
    package func forEachRow(
        _ sql: String, _ arguments: [SQLValue], longestValue: Int, _ body: (borrowing StatementRow) throws -> Bool
    ) throws {
        let statement = unsafe try cachedStatement(sql: sql).sqliteStatement
        defer { unsafe Self.end(statement) }
        unsafe try bind(arguments, to: statement)
        while unsafe try step(statement, longestValue: longestValue) {
            guard unsafe try body(StatementRow(statement)) else { return }
        }
    }

    /// Executes a statement that changes rows. Returns the number of changed rows.
    package func change(_ sql: String, _ arguments: [SQLValue]) throws -> Int {
        let statement = unsafe try cachedStatement(sql: sql).sqliteStatement
        defer { unsafe Self.end(statement) }
        unsafe try bind(arguments, to: statement)
        while unsafe try step(statement) {}
        return changesCount
    }

    /// Advances to the next row. Returns whether there is one.
    private func step(_ statement: OpaquePointer) throws -> Bool {
        switch unsafe sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw failure(code)
        }
    }

    /// Advances to the next row under another limit than the connection's. The limit applies to this step only, because
    /// the body of a loop may use the connection.
    private func step(_ statement: OpaquePointer, longestValue: Int) throws -> Bool {
        guard let connection = unsafe sqliteConnection else { throw failure(SQLITE_MISUSE) }
        let usual = unsafe sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, Int32(clamping: longestValue))
        defer { unsafe sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, usual) }
        do {
            return unsafe try step(statement)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_TOOBIG {
            throw InvalidColumn()
        }
    }

    private func bind(_ arguments: [SQLValue], to statement: OpaquePointer) throws {
        guard unsafe sqlite3_bind_parameter_count(statement) == arguments.count else { throw failure(SQLITE_MISUSE) }
        for (index, argument) in arguments.enumerated() {
            let code = unsafe Self.bind(argument, to: statement, at: Int32(clamping: index + 1))
            guard code == SQLITE_OK else { throw failure(code) }
        }
    }

    private static func bind(_ argument: SQLValue, to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch argument {
        case .null: unsafe sqlite3_bind_null(statement, index)
        case .integer(let number): unsafe sqlite3_bind_int64(statement, index, number)
        // Without an address the value would be NULL.
        case .blob([]): unsafe sqlite3_bind_zeroblob(statement, index, 0)
        case .blob(let bytes):
            unsafe bytes.withUnsafeBytes { bytes in
                unsafe sqlite3_bind_blob64(
                    statement, index, bytes.baseAddress, sqlite3_uint64(bytes.count), copying)
            }
        }
    }

    /// SQLITE_TRANSIENT: SQLite makes its own copy.
    private static var copying: sqlite3_destructor_type {
        unsafe unsafeBitCast(OpaquePointer(bitPattern: -1), to: sqlite3_destructor_type.self)
    }

    /// Resets the statement for its next use and drops the arguments.
    private static func end(_ statement: OpaquePointer) {
        unsafe sqlite3_reset(statement)
        unsafe sqlite3_clear_bindings(statement)
    }

    /// Returns an error with the extended code if there is one. Without a message, which could contain names.
    private func failure(_ code: Int32) -> DatabaseError {
        let extended = unsafe sqliteConnection.map { unsafe sqlite3_extended_errcode($0) } ?? code
        return DatabaseError(resultCode: ResultCode(rawValue: extended & 0xFF == code & 0xFF ? extended : code))
    }
}
