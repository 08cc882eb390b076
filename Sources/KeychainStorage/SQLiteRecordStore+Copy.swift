internal import Foundation
internal import GRDB
package import Keychain

extension SQLiteRecordStore {
    /// Writes a copy of one consistent state of the store to the empty file at `path`, edits it in one transaction, and
    /// closes it, without a log next to it. Pages of deleted rows are not copied.
    ///
    /// Blocks the store while the file is written. The caller makes the file durable. After an error the file is
    /// unusable.
    ///
    /// - Parameter verify: Called before the store is copied, in the same state.
    package func copy<Result>(
        to path: String, verify: (any RecordReader) throws(KeychainFault) -> Void = { _ in },
        _ edit: (any RecordWriter) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        let connection = try current()
        try connection.perform { db throws(KeychainFault) in
            connection.findExternalChanges(isThorough: true, db)
            try verify(SQLiteRecords(db: db))
            // <https://www.sqlite.org/lang_vacuum.html#vacuum_with_an_into_clause>
            try KeychainFault.mapping(db) { try db.execute(sql: "VACUUM INTO ?", arguments: [path]) }
        }
        let copy: SQLiteRecordStore
        do throws(StoreOpenError) {
            copy = try SQLiteRecordStore.open(path: path)
        } catch {
            throw KeychainFault(copying: error)
        }
        // secure_delete is on, so deleted rows leave nothing in the pages.
        defer { copy.close() }
        let result = try copy.write(edit)
        try copy.checkpoint()
        return result
    }
}

extension KeychainFault {
    /// The reason why a new copy cannot be opened.
    fileprivate init(copying error: StoreOpenError) {
        self =
            switch error {
            case .diskFull: .diskFull
            case .io(let code): .io(code)
            default: .decode
            }
    }
}
