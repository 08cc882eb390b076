import DeviceState
import Foundation
import Fuse
import Keychain
import KeychainStorage
import SecretCrypto
import SystemPackage
import SystemServices

/// Puts a backup where a keychain is, or is to be.
package struct Restore: Sendable {
    private let backup: String
    private let target: KeychainFile
    private let replaces: Bool

    package init(_ backup: String, to target: KeychainFile, replaces: Bool) {
        self.backup = backup
        self.target = target
        self.replaces = replaces
    }

    /// Verifies the structure of a copy that is made beside the keychain, and that the passphrase (or what is given instead) opens it; then gives
    /// it the keychain's name. At every moment the old or the new keychain lies there, whole.
    ///
    /// Returns where the replaced keychain is kept, if there was one.
    package func run(unlocking source: UnlockSource, say: (String) -> Void) throws(Failure) -> String? {
        try checkTarget()
        try createStateDirectory()
        ReplacedKeychain.interrupted(of: target.path)?.undo()
        let draft = try copied()
        let secret = try source.read(say: say)
        let opened = try verified(draft.path, secret, say)
        defer { opened.keychain.close() }
        // Before and after: a crash in between leaves the old keychain or the new one, and neither is to be taken for an older
        // copy of the other.
        try? opened.keychain.keys.lowerCommitNumber(in: numbers)
        let kept = try releaseTarget()
        do throws(Errno) {
            if kept == nil {
                try draft.publish()
            } else {
                try draft.replace()
            }
        } catch {
            kept?.undo()
            throw error == .fileExists ? Self.exists(target.path) : Failure(error, writing: target.path)
        }
        setCommitNumber(opened, say)
        tellDamage(opened, say)
        return kept?.kept
    }

    // MARK: Before anything is changed

    private func checkTarget() throws(Failure) {
        if let mountPoint = MountedKeychains.mountPoint(of: target.path) {
            throw Failure(
                .inUse, "\(target.path) is mounted at \(mountPoint). 'keychainfs unmount' it before it is replaced.")
        }
        guard !MountedKeychains.contain(FilePath(target.path).removingLastComponent().string) else {
            throw Failure(.usage, "\(target.path) lies in a mounted keychain. Name a file on a disk.")
        }
        guard target.exists else { return try checkNeighbors() }
        guard replaces else { throw Self.exists(target.path) }
        guard
            (try? FileManager.default.attributesOfItem(atPath: target.path))?[.type] as? FileAttributeType
                == .typeRegular
        else { throw Failure(.badKeychain, "\(target.path) is no file; it is not replaced.") }
        try checkNeighbors()
    }

    private func checkNeighbors() throws(Failure) {
        let neighbors = StoreNeighbors(of: target.path)
        do throws(StoreOpenError) {
            try target.exists ? neighbors.requirePlain() : neighbors.requireNone()
        } catch {
            throw Failure(error, keychain: target.path)
        }
    }

    /// The commit number is kept there when the backup has replaced the keychain.
    private func createStateDirectory() throws(Failure) {
        let directory = target.locations.stateDirectory
        do throws(Errno) { try FileRenaming.makeDirectory(directory) } catch {
            throw Failure(error, writing: directory)
        }
    }

    private static func exists(_ path: String) -> Failure {
        Failure(
            .exists,
            "\(path) is there already. Replace it with --replace (it is kept aside), or name another with --keychain.")
    }

    // MARK: The copy

    /// The bytes of the backup, beside the place where they are to be.
    private func copied() throws(Failure) -> TemporaryFile {
        // Nobody writes to it meanwhile, and it has no log whose commits would be missing.
        let source: SQLiteRecordStore
        do throws(StoreOpenError) {
            source = try SQLiteRecordStore.open(path: backup, access: .readOnly)
        } catch .notFound {
            throw Failure(.noKeychain, "There is no backup at \(backup).")
        } catch .needsRecovery {
            throw Failure(
                .badKeychain, "Beside \(backup) lies its log: it is a keychain that was not closed properly, no backup."
            )
        } catch {
            throw Failure(error, keychain: backup)
        }
        defer { source.close() }
        guard !isSame(backup, target.path) else {
            throw Failure(.usage, "\(backup) is the keychain itself.")
        }
        do throws(Errno) {
            try FileRenaming.makeDirectory(FilePath(target.path).removingLastComponent().string)
            let draft = try TemporaryFile(for: target.path)
            try draft.copy(fileAt: backup)
            try draft.synchronize()
            return draft
        } catch {
            throw Failure(error, writing: target.path)
        }
    }

    private func isSame(_ path: String, _ other: String) -> Bool {
        let identities = [path, other].map { path in
            (try? FileManager.default.attributesOfItem(atPath: path)).map { facts in
                [facts[.systemNumber] as? Int, facts[.systemFileNumber] as? Int]
            }
        }
        return identities[0] != nil && identities[0] == identities[1]
    }

    /// Opened for reading, and unlocked.
    private func verified(
        _ path: String, _ secret: borrowing UnlockSecret, _ say: (String) -> Void
    ) throws(Failure) -> OpenedKeychain {
        let opened: OpenedKeychain
        do throws(Failure) {
            opened = try KeychainFile(path: path, locations: target.locations).open(isReadOnly: true, isBackup: true)
        } catch {
            throw Failure(error.exitCode, "\(backup) cannot be restored: it is no whole keychain.")
        }
        do throws(Failure) {
            try opened.keychain.keys.reportCost(of: secret.kind, keychain: backup, say: say)
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
            throw error == .decode ? damaged : Failure(error, keychain: backup)
        }
    }

    private var damaged: Failure {
        Failure(.damaged, "\(backup) is damaged and was not restored. Try an older backup.")
    }

    // MARK: The change

    /// Makes sure that nobody uses the keychain, and keeps it under a second name; nil if there is none.
    private func releaseTarget() throws(Failure) -> ReplacedKeychain? {
        guard target.exists else { return nil }
        do throws(StoreOpenError) {
            // What its log holds comes into the file, and is kept with it.
            try SQLiteRecordStore.open(path: target.path).close()
        } catch .inUse(let processID) {
            throw Failure(StoreOpenError.inUse(processID: processID), keychain: target.path)
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
            throw Failure(error, writing: kept.kept)
        }
    }

    /// A backup of which a part is damaged is better than none, but nobody should take it for whole.
    private func tellDamage(_ opened: OpenedKeychain, _ say: (String) -> Void) {
        let isConsistent = (try? opened.keychain.check().isConsistent) ?? false
        if !isConsistent { say("warning: a part of this backup is damaged; 'keychainfs check' tells which.") }
    }

    private var numbers: CommitNumberFile { CommitNumberFile(directory: target.locations.stateDirectory) }

    private func setCommitNumber(_ opened: OpenedKeychain, _ say: (String) -> Void) {
        do throws(KeychainFault) {
            try opened.keychain.keys.setCommitNumber(in: numbers)
        } catch {
            say("warning: the commit number of the backup cannot be kept; the next mount may need --accept-rollback.")
        }
    }
}
