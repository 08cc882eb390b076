internal import GRDB
internal import Keychain
internal import SQLiteRows

extension KeychainFault {
    /// Maps an error of SQLite or GRDB to a fault; the only place that does.
    ///
    /// Source: <https://www.sqlite.org/rescode.html>. A damaged page is ``decode``: the item fails, others remain
    /// usable. A page that the disk does not read is none: see `DatabaseVFS`.
    init(storage error: any Error) {
        switch error {
        case let error as KeychainFault: self = error
        case let error as DatabaseError: self.init(error.extendedResultCode)
        case is RowDecodingError, is InvalidColumn: self = .decode
        default: self = .io(ResultCode.SQLITE_ERROR.rawValue)
        }
    }

    private init(_ code: ResultCode) {
        self =
            switch code {
            case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY: .duplicateItem
            // The schema was verified when the store was opened, so these errors are caused by damaged pages.
            case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_ERROR: .decode
            case .SQLITE_FULL: .diskFull
            case .SQLITE_READONLY: .readOnly
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: .decode
            case .SQLITE_NOMEM: .allocate
            case .SQLITE_BUSY, .SQLITE_LOCKED: .inUse(processID: 0)
            case .SQLITE_TOOBIG: .dataTooLarge
            default: .io(code.rawValue)
            }
    }

    /// Runs `body`, which uses `db`, and maps its errors.
    ///
    /// If a page is damaged, the cached pages are dropped. SQLite checks the cells of a page (`PRAGMA cell_size_check`)
    /// only when it reads the page from the file, and keeps a page that failed the check in its cache. A later
    /// statement would use that page as if it were intact, and could lose rows when it changes it. Source:
    /// `btreeInitPage` in btree.c.
    static func mapping<Result>(_ db: Database, _ body: () throws -> Result) throws(KeychainFault) -> Result {
        do {
            return try body()
        } catch {
            if let error = error as? DatabaseError, error.resultCode == .SQLITE_CORRUPT { db.forgetPages() }
            throw KeychainFault(storage: error)
        }
    }
}
