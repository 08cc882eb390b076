import Keychain
import KeychainStorage

/// A keychain that was opened from its file.
struct OpenedKeychain: Sendable {
    let keychain: Keychain
    /// What it is kept in: for what concerns the file and no item.
    let store: SQLiteRecordStore
    /// Whether this device had a key before.
    let hadDeviceKey: Bool

    /// Writes what a backup holds to the empty file at `path` (S1): no item that stays on this device for good.
    func copy(to path: String) throws(KeychainError) -> BackupContents {
        try store.copy(to: path) { (copy) throws(KeychainError) in try keychain.prepareBackup(copy) }
    }
}
