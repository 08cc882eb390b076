import DeviceState
import Foundation
import Fuse
import Keychain
import KeychainStorage
import LinuxSupport
import SecretCrypto
import SystemPackage

/// Puts a backup where a keychain is, or is to be.
package struct Restore: Sendable {
    private let backup: String
    private let target: KeychainPath
    private let replaces: Bool

    package init(_ backup: String, to target: KeychainPath, replaces: Bool) {
        self.backup = backup
        self.target = target
        self.replaces = replaces
    }

    /// Verifies the structure of a copy that is made beside the keychain, and that the passphrase (or what is given instead) opens it; then gives
    /// it the keychain's name. At every moment the old or the new keychain lies there, whole.
    ///
    /// Returns where the replaced keychain is kept, if there was one.
    package func run(unlocking source: UnlockSource, showMessage: (String) -> Void) throws(CLIError) -> String? {
        try checkTarget()
        try createStateDirectory()
        ReplacedKeychain.interrupted(of: target.path)?.undo()
        let temporary = try copied()
        let secret = try source.read(showMessage: showMessage)
        let opened = try verified(temporary.path, secret, showMessage)
        defer { opened.keychain.close() }
        // Before and after: a crash in between leaves the old keychain or the new one, and neither is to be taken for an older
        // copy of the other.
        try? opened.keychain.keys.lowerCommitNumber(in: numbers)
        let kept = try releaseTarget()
        do throws(Errno) {
            if kept == nil {
                try temporary.install()
            } else {
                try temporary.replace()
            }
        } catch {
            kept?.undo()
            throw error == .fileExists ? Self.exists(target.path) : CLIError(error, writing: target.path)
        }
        setCommitNumber(opened, showMessage)
        reportDamage(opened, showMessage)
        return kept?.kept
    }

    // MARK: Before anything is changed

    private func checkTarget() throws(CLIError) {
        if let mountPoint = MountedKeychains.mountPoint(of: target.path) {
            throw CLIError(
                .inUse, "\(target.path) is mounted at \(mountPoint). 'keychainfs unmount' it before it is replaced.")
        }
        guard !MountedKeychains.contain(FilePath(target.path).removingLastComponent().string) else {
            throw CLIError(.usage, "\(target.path) lies in a mounted keychain. Name a file on a disk.")
        }
        guard target.exists else { return try checkNeighbors() }
        guard replaces else { throw Self.exists(target.path) }
        guard
            (try? FileManager.default.attributesOfItem(atPath: target.path))?[.type] as? FileAttributeType
                == .typeRegular
        else { throw CLIError(.badKeychain, "\(target.path) is no file; it is not replaced.") }
        try checkNeighbors()
    }

    private func checkNeighbors() throws(CLIError) {
        let neighbors = StoreNeighbors(of: target.path)
        do throws(StoreOpenError) {
            try target.exists ? neighbors.requirePlain() : neighbors.requireNone()
        } catch {
            throw CLIError(error, keychain: target.path)
        }
    }

    /// The commit number is kept there when the backup has replaced the keychain.
    private func createStateDirectory() throws(CLIError) {
        let directory = target.locations.stateDirectory
        do throws(Errno) { try FileRenaming.makeDirectory(directory) } catch {
            throw CLIError(error, writing: directory)
        }
    }

    private static func exists(_ path: String) -> CLIError {
        CLIError(
            .exists,
            "\(path) is there already. Replace it with --replace (it is kept aside), or name another with --keychain.")
    }

    // MARK: The copy

    /// The bytes of the backup, beside the place where they are to be.
    private func copied() throws(CLIError) -> TemporaryFile {
        // Nobody writes to it meanwhile, and it has no log whose commits would be missing.
        let source: SQLiteRecordStore
        do throws(StoreOpenError) {
            source = try SQLiteRecordStore.open(path: backup, access: .readOnly)
        } catch .notFound {
            throw CLIError(.noKeychain, "There is no backup at \(backup).")
        } catch .needsRecovery {
            throw CLIError(
                .badKeychain, "Beside \(backup) lies its log: it is a keychain that was not closed properly, no backup."
            )
        } catch {
            throw CLIError(error, keychain: backup)
        }
        defer { source.close() }
        guard !isSame(backup, target.path) else {
            throw CLIError(.usage, "\(backup) is the keychain itself.")
        }
        do throws(Errno) {
            try FileRenaming.makeDirectory(FilePath(target.path).removingLastComponent().string)
            let temporary = try TemporaryFile(for: target.path)
            try temporary.copy(fileAt: backup)
            try temporary.synchronize()
            return temporary
        } catch {
            throw CLIError(error, writing: target.path)
        }
    }

    private func isSame(_ path: String, _ other: String) -> Bool {
        let identities = [path, other].map { path in
            (try? FileManager.default.attributesOfItem(atPath: path)).map { attributes in
                [attributes[.systemNumber] as? Int, attributes[.systemFileNumber] as? Int]
            }
        }
        return identities[0] != nil && identities[0] == identities[1]
    }

    /// Opened for reading, and unlocked.
    private func verified(
        _ path: String, _ secret: borrowing UnlockSecret, _ showMessage: (String) -> Void
    ) throws(CLIError) -> OpenedKeychain {
        let opened: OpenedKeychain
        do throws(CLIError) {
            opened = try KeychainPath(path: path, locations: target.locations).open(isReadOnly: true, isBackup: true)
        } catch {
            throw CLIError(error.exitCode, "\(backup) cannot be restored: it is no whole keychain.")
        }
        do throws(CLIError) {
            try opened.keychain.keys.reportCost(of: secret.kind, keychain: backup, showMessage: showMessage)
            try opened.unlock(with: secret, keychain: backup)
        } catch {
            opened.keychain.close()
            throw error.exitCode == .badKeychain ? damaged : error
        }
        do throws(KeychainFault) {
            guard try opened.store.verifyStructure() == 0 else { throw .decode }
            _ = try opened.keychain.commitNumber()
            return opened
        } catch {
            opened.keychain.close()
            throw error == .decode ? damaged : CLIError(error, keychain: backup)
        }
    }

    private var damaged: CLIError {
        CLIError(.damaged, "\(backup) is damaged and was not restored. Try an older backup.")
    }

    // MARK: The change

    /// Makes sure that nobody uses the keychain, and keeps it under a second name; nil if there is none.
    private func releaseTarget() throws(CLIError) -> ReplacedKeychain? {
        guard target.exists else { return nil }
        do throws(StoreOpenError) {
            // What its log holds comes into the file, and is kept with it.
            try SQLiteRecordStore.open(path: target.path).close()
        } catch .inUse(let processID) {
            throw CLIError(StoreOpenError.inUse(processID: processID), keychain: target.path)
        } catch {
            // Too damaged to be opened: often the reason for the restoration.
        }
        let kept = ReplacedKeychain(
            of: target.path, time: FileNameDate.free(after: target.path + ReplacedKeychain.mark))
        do throws(Errno) {
            try kept.keep()
            return kept
        } catch {
            if error != .fileExists { kept.undo() }
            throw CLIError(error, writing: kept.kept)
        }
    }

    /// A backup of which a part is damaged is better than none, but nobody should take it for whole.
    private func reportDamage(_ opened: OpenedKeychain, _ showMessage: (String) -> Void) {
        let isConsistent = (try? opened.keychain.check().isConsistent) ?? false
        if !isConsistent { showMessage("warning: a part of this backup is damaged; 'keychainfs check' tells which.") }
    }

    private var numbers: CommitNumberFile { CommitNumberFile(directory: target.locations.stateDirectory) }

    private func setCommitNumber(_ opened: OpenedKeychain, _ showMessage: (String) -> Void) {
        do throws(KeychainFault) {
            try opened.keychain.keys.setCommitNumber(in: numbers)
        } catch {
            showMessage(
                "warning: the commit number of the backup cannot be kept; the next mount may need --accept-rollback.")
        }
    }
}
