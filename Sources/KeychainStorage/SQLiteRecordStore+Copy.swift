internal import Foundation
internal import GRDB
package import Keychain

extension SQLiteRecordStore {
    /// Writes a copy of one consistent state of the store to the empty file at `path`, edits it, and leaves it closed,
    /// without a log beside it. Pages of rows that are gone are not in it.
    ///
    /// The store waits meanwhile, for as long as the file takes to be written. Durability is left to the caller.
    /// `edit` is one transaction of the copy. What throws leaves a file that is of no use.
    package func copy<Result>(
        to path: String, _ edit: (any RecordWriter) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        try current().perform { db throws(KeychainFault) in
            // <https://www.sqlite.org/lang_vacuum.html#vacuum_with_an_into_clause>
            try KeychainFault.mapping(db) { try db.execute(sql: "VACUUM INTO ?", arguments: [path]) }
        }
        let copy: SQLiteRecordStore
        do throws(StoreOpenError) {
            copy = try SQLiteRecordStore.open(path: path)
        } catch {
            throw KeychainFault(copying: error)
        }
        // secure_delete is on: what is removed leaves nothing in the pages.
        defer { copy.close() }
        let result = try copy.write(edit)
        try copy.checkpoint()
        return result
    }
}

extension KeychainFault {
    /// Why a copy that was just written cannot be opened.
    fileprivate init(copying error: StoreOpenError) {
        self =
            switch error {
            case .diskFull: .diskFull
            case .io(let code): .io(code)
            default: .decode
            }
    }
}
