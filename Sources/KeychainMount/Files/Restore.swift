import DeviceState
import Foundation
import Fuse
import Keychain
import KeychainStorage
import LinuxSupport
import SecretCrypto
import SystemPackage

/// Restores a backup to the path of a keychain.
package struct Restore: Sendable {
    private let backup: String
    private let target: KeychainPath
    private let replaces: Bool
    private let acceptsRollback: Bool

    /// - Parameter acceptingRollback: Whether to restore a backup that does not belong to the state that this device has seen.
    package init(_ backup: String, to target: KeychainPath, replaces: Bool, acceptingRollback: Bool) {
        self.backup = backup
        self.target = target
        self.replaces = replaces
        acceptsRollback = acceptingRollback
    }

    /// Copies the backup into the keychain's directory, verifies its structure, and that the unlock secret opens it.
    /// Then renames it to the keychain's name, so that the path always refers to a complete keychain.
    package func run(unlocking source: UnlockSource, showMessage: (String) -> Void) throws(CLIError) -> RestoreResult {
        try checkTarget()
        try createStateDirectory()
        ReplacedKeychain.interrupted(of: target.path)?.undo()
        let temporary = try copied()
        let secret = try source.read(for: backup, showMessage: showMessage)
        let verified = try verified(temporary.path, secret, showMessage)
        let state = try renumbered(temporary, verified.root, showMessage)
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
        if !verified.isIntact {
            showMessage("warning: a part of this backup is damaged; 'keychainfs check' lists the damage.")
        }
        return RestoreResult(replaced: kept?.kept, stateFault: unsaved(state))
    }

    // MARK: Before anything is changed

    private func checkTarget() throws(CLIError) {
        if let mountPoint = MountedKeychains.mountPoint(of: target.path) {
            throw CLIError(
                .inUse,
                "\(target.path) is mounted at \(mountPoint). '\(MountPointCommand.text("unmount", mountPoint))' it before it is replaced."
            )
        }
        guard !MountedKeychains.contain(FilePath(target.path).removingLastComponent().string) else {
            throw CLIError(.usage, "\(target.path) is in a mounted keychain. Name a file on a disk.")
        }
        guard target.exists else { return try checkNeighbors() }
        guard replaces else { throw Self.exists(target.path) }
        guard
            (try? FileManager.default.attributesOfItem(atPath: target.path))?[.type] as? FileAttributeType
                == .typeRegular
        else { throw CLIError(.badKeychain, "\(target.path) is not a file; it is not replaced.") }
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

    /// Creates the directory in which the commit number is stored after the replacement.
    private func createStateDirectory() throws(CLIError) {
        let directory = target.locations.stateDirectory
        do throws(Errno) { try FileRenaming.makeDirectory(directory) } catch {
            throw CLIError(error, writing: directory)
        }
    }

    private static func exists(_ path: String) -> CLIError {
        CLIError(
            .exists,
            "\(path) exists already. Replace it with --replace (the old file is kept under another name), or name another with --keychain."
        )
    }

    // MARK: The copy

    /// Copies the bytes of the backup into the directory of the keychain.
    private func copied() throws(CLIError) -> TemporaryFile {
        // No process may write to it, and it must have no log whose commits would be missing.
        let source: SQLiteRecordStore
        do throws(StoreOpenError) {
            source = try SQLiteRecordStore.open(path: backup, access: .readOnly)
        } catch .notFound {
            throw CLIError(.noKeychain, "There is no backup at \(backup).")
        } catch .needsRecovery {
            throw CLIError(
                .badKeychain, "\(backup) has a log: it is a keychain that was not closed properly, not a backup."
            )
        } catch {
            throw CLIError(error, keychain: backup)
        }
        defer { source.close() }
        guard !isSame(backup, target.path) else {
            throw CLIError(.usage, "\(backup) is the keychain itself.")
        }
        let temporary: TemporaryFile
        do throws(Errno) {
            try FileRenaming.makeDirectory(FilePath(target.path).removingLastComponent().string)
            temporary = try TemporaryFile(for: target.path)
        } catch {
            throw failure(error)
        }
        do throws(CopyError<Errno>) {
            try temporary.copy(fileAt: backup)
        } catch {
            guard case .source(let errno) = error else { throw failure(error.cause) }
            throw CLIError(errno, replacing: backup)
        }
        do throws(Errno) { try temporary.synchronize() } catch { throw failure(error) }
        return temporary
    }

    private func failure(_ error: Errno) -> CLIError {
        target.exists ? CLIError(error, replacing: target.path) : CLIError(error, writing: target.path)
    }

    private func isSame(_ path: String, _ other: String) -> Bool {
        let identities = [path, other].map { path in
            (try? FileManager.default.attributesOfItem(atPath: path)).map { attributes in
                [attributes[.systemNumber] as? Int, attributes[.systemFileNumber] as? Int]
            }
        }
        return identities[0] != nil && identities[0] == identities[1]
    }

    private struct VerifiedBackup: ~Copyable {
        let root: SlotRootKey
        /// Whether all of it verifies. A partly damaged backup is better than none, but the user must know.
        let isIntact: Bool
    }

    /// Opens the copy for reading, and unlocks it.
    private func verified(
        _ path: String, _ secret: borrowing UnlockSecret, _ showMessage: (String) -> Void
    ) throws(CLIError) -> VerifiedBackup {
        let opened: OpenedKeychain
        do throws(CLIError) {
            opened = try KeychainPath(path: path, locations: target.locations).open(isReadOnly: true, isBackup: true)
        } catch {
            // Of the disk, not of the backup.
            guard ![.failure, .diskFull, .readOnly].contains(error.exitCode) else { throw error }
            throw CLIError(error.exitCode, "\(backup) cannot be restored: it is no whole keychain.")
        }
        defer { opened.keychain.close() }
        let root: SlotRootKey
        do throws(CLIError) {
            try opened.keychain.keys.reportCost(of: secret.kind, keychain: backup, showMessage: showMessage)
            root = try opened.unlockedRoot(of: secret, keychain: backup)
        } catch {
            throw error.exitCode == .badKeychain ? damaged : error
        }
        do throws(KeychainFault) {
            guard try opened.store.verifyStructure() == 0 else { throw .decode }
            _ = try opened.keychain.commitNumber()
            let isIntact = try nilIfDamaged { () throws(KeychainFault) in try opened.keychain.check().isConsistent }
            return VerifiedBackup(root: root, isIntact: isIntact ?? false)
        } catch {
            throw error == .decode ? damaged : CLIError(error, keychain: backup)
        }
    }

    /// Writes a commit to the copy with a number above that of each other copy that is known here: all of them are older
    /// from then on.
    ///
    /// - Returns: The state to store for this device when the copy has replaced the keychain.
    private func renumbered(
        _ temporary: borrowing TemporaryFile, _ root: borrowing SlotRootKey, _ showMessage: (String) -> Void
    ) throws(CLIError) -> EncodedState {
        let copy = KeychainPath(path: temporary.path, locations: target.locations)
        let opened = try copy.open(isReadOnly: false, isBackup: true)
        defer { opened.keychain.close() }
        let keys = opened.keychain.keys
        let replaced = ReplacedCopy(of: target, root, backup: keys)
        let kept = try reading { () throws(KeychainFault) in try keys.keptState(in: numbers, root: root) }
        try checkHistory(kept, replaced, showMessage)
        return try reading { () throws(KeychainFault) in
            try keys.unlock(root: root)
            try keys.raiseCommit(above: replaced.floor(for: keys, in: numbers))
            // The file gets another name without its log, which a failed checkpoint would leave.
            try opened.store.checkpoint()
            return try keys.encodedState()
        }
    }

    /// Requires that the keys of the backup are those of this device's keychain: the holder of a removed slot knows older keys, and
    /// could plant new ones. A user key older than that of this device cannot be compared with its state, but with the keychain that
    /// is replaced.
    private func checkHistory(
        _ kept: KeptState, _ replaced: ReplacedCopy, _ showMessage: (String) -> Void
    ) throws(CLIError) {
        let isForeign =
            switch kept {
            case .authentic: false
            case .untrusted: true
            case .missing, .newerUserKey: replaced.hasSameHistory == false
            }
        guard !isForeign || acceptsRollback else { throw foreign }
        if isForeign {
            showMessage(
                "warning: this device does not know the keys of this backup: others may have them, and read later values."
            )
        }
        guard kept == .newerUserKey else { return }
        showMessage(
            """
            warning: key slots were removed or changed after this backup was created. As it was before, they open the \
            restored keychain: remove those slots again.
            """)
    }

    private var foreign: CLIError {
        CLIError(
            .rolledBack,
            """
            \(backup) has other keys than the keychain of this device. The holder of a slot that was removed since may have made it, \
            to read later values; or the data of this device (commit-number.*, next to the device key) is damaged. Nothing was \
            changed. Try another backup. Only if you know the cause, for example if it comes from another machine on which the slots were \
            changed as well, restore it with --accept-rollback.
            """)
    }

    private func reading<Result>(_ body: () throws(KeychainFault) -> Result) throws(CLIError) -> Result {
        do throws(KeychainFault) {
            return try body()
        } catch {
            throw error == .decode ? damaged : CLIError(error, keychain: target.path)
        }
    }

    private var damaged: CLIError {
        CLIError(.damaged, "\(backup) is damaged and was not restored. Try an older backup.")
    }

    // MARK: The change

    /// Requires that no process uses the keychain, and gives it a second name. Returns nil if there is no keychain.
    private func releaseTarget() throws(CLIError) -> ReplacedKeychain? {
        guard target.exists else { return nil }
        do throws(StoreOpenError) {
            // Moves the log into the file, so that it is preserved with it.
            try SQLiteRecordStore.open(path: target.path).close()
        } catch .inUse(let processID) {
            throw CLIError(StoreOpenError.inUse(processID: processID), keychain: target.path)
        } catch {
            // Too damaged to be opened, which often is the reason for the restore.
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

    private var numbers: CommitNumberFile { CommitNumberFile(directory: target.locations.stateDirectory) }

    /// Saves the state of this device. Returns why it is not saved.
    private func unsaved(_ state: EncodedState) -> StateFault? {
        do throws(KeychainFault) {
            try numbers.save(state.bytes, for: state.store)
            return nil
        } catch {
            return StateFault(error)
        }
    }
}

/// The result of a restore.
package struct RestoreResult: Sendable {
    /// The path of the replaced keychain; nil if the path was free.
    package let replaced: String?
    /// The reason why this device could not save the state of the restored keychain; nil if it is saved.
    package let stateFault: StateFault?
}
