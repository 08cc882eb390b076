import DeviceState
import Foundation
import Keychain
import KeychainStorage
import LinuxSupport
import SecretCrypto
import SystemPackage

/// A keychain that was not closed, read from a temporary copy with the transactions of its log. No byte of the keychain, or of the
/// log, changes.
enum RecoveredCopy {
    /// Opens a copy of the keychain for reading. The copy has no name when this returns.
    ///
    /// - Parameters:
    ///   - path: The path of the keychain, which is not in use.
    ///   - log: The path of its log.
    static func open(_ path: String, log: String) throws(CLIError) -> SQLiteRecordStore {
        if FileExposure(path: path)?.othersMayWrite == true {
            throw CLIError(StoreOpenError.othersMayWrite, keychain: path)
        }
        let stamps = [FileStamp(path), FileStamp(log)]
        let file: TemporaryFile
        do throws(Errno) {
            file = try copy(path, log: log)
        } catch .permissionDenied, .readOnlyFileSystem {
            throw CLIError(StoreOpenError.needsRecovery, keychain: path)
        } catch {
            throw CLIError(error, replacing: path)
        }
        do throws(StoreOpenError) {
            guard stamps == [FileStamp(path), FileStamp(log)] else { throw .inUse(processID: 0) }
            try recover(file.path)
            return try SQLiteRecordStore.open(path: file.path, access: .readOnly)
        } catch .mismatchedLog {
            throw CLIError(StoreOpenError.mismatchedLog(path: log), keychain: path)
        } catch {
            throw CLIError(error, keychain: path)
        }
    }

    private static func copy(_ path: String, log: String) throws(Errno) -> TemporaryFile {
        let file = try TemporaryFile(for: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
        do throws(CopyError<Errno>) { try file.copy(fileAt: path) } catch { throw error.cause }
        // The log does not exist after an interrupted restore of a keychain that was closed.
        do throws(Errno) { try file.copyLog(at: log) } catch { if error != .noSuchFileOrDirectory { throw error } }
        return file
    }

    /// Moves the log next to the copy into it.
    private static func recover(_ copy: String) throws(StoreOpenError) {
        let store = try SQLiteRecordStore.open(path: copy)
        defer { store.close() }
        do throws(KeychainFault) {
            try store.checkpoint()
        } catch {
            throw error == .diskFull ? .diskFull : .initialization(error)
        }
    }
}
