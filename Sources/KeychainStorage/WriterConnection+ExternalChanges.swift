internal import GRDB
internal import Keychain
internal import Synchronization

extension WriterConnection {
    /// Looks for changes by other programs (``ExternalChanges``): before what this process writes hides them, and every minute.
    /// Called by the gate's owner, outside of a transaction.
    func findExternalChanges(isThorough: Bool, _ db: Database) {
        guard externalChanges.withLock({ $0.find(isThorough: isThorough) }) else { return }
        // From now on what the file contains is read, so that a verification finds it.
        try? db.execute(sql: Self.releaseMemory)
        snapshots.releaseMemory()
        onExternalChange.withLock { $0 }?()
    }

    /// Releases all pages that SQLite has in memory (<https://www.sqlite.org/pragma.html#pragma_shrink_memory>).
    static let releaseMemory = "PRAGMA shrink_memory"
}
