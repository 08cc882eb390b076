internal import GRDB
internal import Keychain

/// The life of one transaction, from BEGIN IMMEDIATE to a durable commit or to nothing at all.
///
/// The only place that begins and ends transactions, so that several callers can share one later.
struct WriteTransaction {
    let db: Database

    /// What `body` throws is thrown as it is, after the rollback.
    func run<Result>(
        _ body: (SQLiteRecords) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        // Within a transaction of this thread: its rollback would take this one's durable changes with it.
        guard !db.isInsideTransaction else { throw .io(ResultCode.SQLITE_MISUSE.rawValue) }
        var outcome: Swift.Result<Result, KeychainError>?
        do {
            // GRDB refuses every statement after SQLite has rolled back by itself (full disk), even if `body` goes on.
            try db.inTransaction(.immediate) {
                let result = Swift.Result { () throws(KeychainError) in try body(SQLiteRecords(db: db)) }
                outcome = result
                if case .success = result { return .commit }
                return .rollback
            }
        } catch {
            abandon()
            if case .failure(let cause) = outcome { throw cause }
            throw KeychainError(storage: error)
        }
        guard let outcome else { throw .io(ResultCode.SQLITE_INTERNAL.rawValue) }
        return try outcome.get()
    }

    /// After a failed commit whose rollback failed too: the connection has to be usable again.
    private func abandon() {
        guard db.isInsideTransaction else { return }
        try? db.rollback()
    }
}
