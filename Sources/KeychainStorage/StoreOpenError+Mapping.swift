internal import GRDB
internal import Keychain
internal import SystemPackage

extension StoreOpenError {
    /// Maps the errno of a system call on the file or its directory.
    init(_ errno: Errno) {
        self =
            switch errno {
            case .noSuchFileOrDirectory, .notDirectory: .notFound
            case .fileExists: .alreadyExists
            case .isDirectory: .notRegularFile
            case .permissionDenied, .notPermitted, .fileNameTooLong: .permissionDenied
            case .readOnlyFileSystem: .readOnlyFileSystem
            case .noSpace, .diskQuotaExceeded: .diskFull
            default: .io(-errno.rawValue)
            }
    }

    /// Maps an error of opening the file through SQLite. The caller finds the holder of a busy one.
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
            case .SQLITE_CORRUPT, .SQLITE_TOOBIG: .damaged
            case .SQLITE_BUSY, .SQLITE_LOCKED: .inUse(processID: 0)
            case .SQLITE_FULL: .diskFull
            case .SQLITE_READONLY: .readOnlyFileSystem
            // The file itself has been opened before, so the write-ahead log cannot be created.
            case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH: .permissionDenied
            default: .io(code.rawValue)
            }
    }
}
