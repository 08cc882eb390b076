internal import GRDB
internal import Keychain
internal import SystemPackage

extension StoreOpenError {
    /// What a system call on the file or its directory answered.
    init(_ errno: Errno) {
        self =
            switch errno {
            case .noSuchFileOrDirectory, .notDirectory: .notFound
            case .fileExists: .alreadyExists
            case .isDirectory: .notRegularFile
            case .permissionDenied, .notPermitted: .permissionDenied
            case .readOnlyFileSystem: .readOnlyFileSystem
            case .noSpace, .diskQuotaExceeded: .diskFull
            default: .io(-errno.rawValue)
            }
    }

    /// What opening through SQLite threw; the holder of a busy one is for the caller to find.
    init(opening error: any Error) {
        switch error {
        case let error as StoreOpenError: self = error
        case let error as DatabaseError: self.init(error.extendedResultCode)
        case let error as Errno: self.init(error)
        case is RowDecodingError: self = .damaged
        default: self = .io(ResultCode.SQLITE_ERROR.rawValue)
        }
    }

    /// <https://www.sqlite.org/rescode.html>
    private init(_ code: ResultCode) {
        self =
            switch code.primaryResultCode {
            case .SQLITE_NOTADB: .notAKeychain
            case .SQLITE_CORRUPT: .damaged
            case .SQLITE_BUSY, .SQLITE_LOCKED: .inUse(processID: 0)
            case .SQLITE_FULL: .diskFull
            case .SQLITE_READONLY: .readOnlyFileSystem
            // The file itself has been opened before: it is the write-ahead log that cannot be created.
            case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH: .permissionDenied
            default: .io(code.rawValue)
            }
    }
}
