import DeviceState
import Foundation
import Keychain
import KeychainStorage
import SecretCrypto
import SystemPackage
import SystemServices

/// A keychain that was not closed, read from a temporary copy with the transactions of its log. No byte of the keychain, or of the
/// log, changes.
enum RecoveredCopy {
    /// Opens a copy of the keychain for reading. The copy has no name when this returns.
    ///
    /// - Parameters:
    ///   - path: The path of the keychain, which is not in use.
    ///   - log: The path of its log.
    static func open(_ path: String, log: String) throws(Failure) -> SQLiteRecordStore {
        if FileExposure(path: path)?.othersMayWrite == true {
            throw Failure(StoreOpenError.othersMayWrite, keychain: path)
        }
        let stamps = [FileStamp(path), FileStamp(log)]
        let draft: TemporaryFile
        do throws(Errno) {
            draft = try copy(path, log: log)
        } catch .permissionDenied, .readOnlyFileSystem {
            throw Failure(StoreOpenError.needsRecovery, keychain: path)
        } catch {
            throw Failure(error, writing: path)
        }
        do throws(StoreOpenError) {
            guard stamps == [FileStamp(path), FileStamp(log)] else { throw .inUse(processID: 0) }
            try recover(draft.path)
            return try SQLiteRecordStore.open(path: draft.path, access: .readOnly)
        } catch .mismatchedLog {
            throw Failure(StoreOpenError.mismatchedLog(path: log), keychain: path)
        } catch {
            throw Failure(error, keychain: path)
        }
    }

    private static func copy(_ path: String, log: String) throws(Errno) -> TemporaryFile {
        let draft = try TemporaryFile(for: URL(fileURLWithPath: path).resolvingSymlinksInPath().path)
        try draft.copy(fileAt: path)
        // There is none after a restore that was interrupted, of a keychain that was closed.
        do throws(Errno) { try draft.copyLog(at: log) } catch { if error != .noSuchFileOrDirectory { throw error } }
        return draft
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
