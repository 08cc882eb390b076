internal import GRDB
internal import Keychain
internal import Synchronization

extension WriterConnection {
    /// Detects changes by other programs (``ExternalChanges``): before this process's own writes hide them, and every
    /// minute. Called by the lock's owner, outside of a transaction.
    func findExternalChanges(isThorough: Bool, _ db: Database) {
        guard externalChanges.withLock({ $0.find(isThorough: isThorough) }) else { return }
        // Later reads use the contents of the file, so that a verification detects the change.
        try? db.execute(sql: Self.releaseMemory)
        snapshots.releaseMemory()
        onExternalChange.withLock { $0 }?()
    }

    /// Frees all cached pages (<https://www.sqlite.org/pragma.html#pragma_shrink_memory>).
    static let releaseMemory = "PRAGMA shrink_memory"
}
