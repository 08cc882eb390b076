import Keychain
import KeychainStorage
import LinuxSupport

/// A keychain that was opened from its file.
struct OpenedKeychain: Sendable {
    let keychain: KeychainStore
    /// The store, for operations on the file.
    let store: SQLiteRecordStore
    /// Whether this device had a key before.
    let hadDeviceKey: Bool

    /// Reads the unlock secret and unlocks. `file` is the keychain for messages.
    func unlock(from source: UnlockSource, of file: KeychainPath, showMessage: (String) -> Void) throws(CLIError) {
        try keychain.keys.reportCost(of: source.kind, keychain: file.path, showMessage: showMessage)
        try unlock(with: source.read(for: file.shownName, showMessage: showMessage), keychain: file.path)
    }

    /// Unlocks. `path` is the file for the message.
    func unlock(
        with secret: borrowing UnlockSecret, acceptingRollback: Bool = false, keychain path: String
    ) throws(CLIError) {
        _ = try unlockedRoot(of: secret, acceptingRollback: acceptingRollback, keychain: path)
    }

    /// Unlocks. Returns the root key, which also opens other copies of the keychain, without another derivation.
    func unlockedRoot(
        of secret: borrowing UnlockSecret, acceptingRollback: Bool = false, keychain path: String
    ) throws(CLIError) -> SlotRootKey {
        do throws(KeychainFault) {
            let root = try keychain.keys.root(of: secret)
            try keychain.keys.unlock(root: root, acceptingRollback: acceptingRollback)
            return root
        } catch .authFailed {
            throw CLIError(.wrongPassphrase, "\(secret.kind.subject) does not open \(path). \(secret.kind.advice)")
        } catch {
            throw CLIError(error, keychain: path)
        }
    }

    /// Writes the contents of a backup to the empty file at `path` (S1), without items that must not leave this device.
    ///
    /// - Throws: `decode` after another copy was written over the keychain: an older state must not replace good backups.
    func copy(to path: String) throws(CopyError<KeychainFault>) -> BackupContents {
        try store.copy(to: path, verify: keychain.keys.verifyLastCommit) { (copy) throws(KeychainFault) in
            try keychain.prepareBackup(copy)
        }
    }

    /// Returns the integrity of a copy: its rows are those of the keychain, and its indexes were compared when it was
    /// created.
    func integrity(of copy: BackupContents) throws(KeychainFault) -> IntegrityState {
        let rows = try keychain.verifiedIntegrity()
        return copy.areIndexesConsistent ? rows : .damaged
    }
}

extension SlotKind {
    /// The name of the secret at the start of a sentence.
    var subject: String {
        switch self {
        case .passphrase: "The passphrase"
        case .recoveryKey: "The recovery key"
        case .keyFile: "The key file"
        case .passphraseAndKeyFile: "The passphrase with the key file"
        case .tpm2, .fido2, .systemdCredential, .plugin, .later: "The given secret"
        }
    }

    /// The remedy if it opens no slot.
    var advice: String {
        (hasPassphrase ? "Try again." : "'keychainfs slot list' shows the slots.")
            + " If you are sure of it, the keys in the file may be damaged: restore a backup."
    }
}
