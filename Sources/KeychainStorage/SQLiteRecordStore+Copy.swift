internal import Foundation
internal import GRDB
internal import Glibc
package import Keychain
package import LinuxSupport

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
    ) throws(CopyError<KeychainFault>) -> Result {
        do throws(KeychainFault) {
            try vacuum(to: path, verify)
        } catch {
            throw CopyError(vacuum: error)
        }
        do throws(KeychainFault) {
            return try Self.edit(path, edit)
        } catch {
            throw .copy(error)
        }
    }

    private func vacuum(
        to path: String, _ verify: (any RecordReader) throws(KeychainFault) -> Void
    ) throws(KeychainFault) {
        let connection = try current()
        try connection.perform { db throws(KeychainFault) in
            connection.findExternalChanges(isThorough: true, db)
            try verify(SQLiteRecords(db: db))
            // <https://www.sqlite.org/lang_vacuum.html#vacuum_with_an_into_clause>
            try KeychainFault.mapping(db) { try db.execute(sql: "VACUUM INTO ?", arguments: [path]) }
        }
    }

    private static func edit<Result>(
        _ path: String, _ edit: (any RecordWriter) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
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

extension CopyError<KeychainFault> {
    /// An error of VACUUM INTO, which only reads the source, and reads of the copy what does not fit into the cache.
    fileprivate init(vacuum fault: KeychainFault) {
        self =
            switch fault {
            case .diskFull, .readOnly: .copy(fault)
            case .io(let code) where code & 0xFF == ResultCode.SQLITE_CANTOPEN.rawValue: .copy(fault)
            case .io(let code)
            where code & 0xFF == ResultCode.SQLITE_IOERR.rawValue && code != ResultCode.SQLITE_IOERR_READ.rawValue:
                .copy(fault)
            default: .source(fault)
            }
    }
}

extension KeychainFault {
    /// The reason why a new copy cannot be opened. It is not damaged, because this process has just written it.
    fileprivate init(copying error: StoreOpenError) {
        self =
            switch error {
            case .diskFull: .diskFull
            case .readOnlyFileSystem: .readOnly
            case .io(let code): .io(code)
            case .inUse(let process): .inUse(processID: process)
            case .permissionDenied: .io(-EACCES)
            default: .io(-EIO)
            }
    }
}
