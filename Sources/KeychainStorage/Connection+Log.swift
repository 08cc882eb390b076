internal import Foundation
internal import GRDB
internal import Keychain
internal import Synchronization
internal import SystemServices

/// The write-ahead log of an open database.
extension Connection {
    /// The log is checkpointed at this size in bytes: SQLite's default of 1,000 pages.
    static let logLimit = 1000 * LeftLog.frameSize

    /// The size of the log in bytes, by which a checkpoint extends the database at most.
    var logBytes: Int {
        UntimedStatus(at: logPath).map { Int(clamping: $0.size) } ?? 0
    }

    /// Extends the log after a commit, or has it checkpointed. Called by the gate's owner.
    func logHasGrown() {
        let known = log.withLock { $0 }
        let size = logRoom.withLock { $0.renew(known) }
        // Not by SQLite, after which the next transaction would begin the log without ``beginLog(_:)``.
        if size > Self.logLimit { eraser.urge() }
    }

    /// Makes the first transaction in an empty log one that writes the store page as it is, so that ``LeftLog`` can tell to which file
    /// the log belongs. Called by the gate's owner before a transaction.
    ///
    /// Commits without waiting for the disk: the header of the log is synchronized here instead of with the next transaction, and the
    /// frame with that one.
    ///
    /// - Returns: Why it failed. No transaction may be committed then: the next call tries again.
    func beginLog(_ db: Database) -> KeychainError? {
        guard logMayBegin.load(ordering: .relaxed) else { return nil }
        do throws(KeychainError) {
            try KeychainError.mapping { try Self.commitStorePage(db) }
        } catch {
            return error
        }
        logMayBegin.store(false, ordering: .relaxed)
        return nil
    }

    private static func commitStorePage(_ db: Database) throws {
        try db.execute(sql: "PRAGMA synchronous = NORMAL")
        let outcome = Result {
            try db.inTransaction(.immediate) {
                try rewriteStorePage(db)
                return .commit
            }
        }
        // Otherwise later transactions would not be durable.
        try db.execute(sql: "PRAGMA synchronous = FULL")
        try outcome.get()
    }

    /// SQLite writes no page for a value that is overwritten by the same one: changes a bit, and changes it back. The length stays
    /// the same, so that nothing moves within the page.
    private static func rewriteStorePage(_ db: Database) throws {
        // A new store has no row until it is filled, before it gets its name.
        guard let salt = try Data.fetchOne(db, sql: "SELECT salt FROM store") else { return }
        var changed = salt
        guard let first = changed.indices.first else { throw KeychainError.decode }
        changed[first] ^= 1
        for value in [changed, salt] { try db.execute(sql: "UPDATE store SET salt = ?", arguments: [value]) }
    }

    /// Moves everything from the log into the database and empties the log.
    func erase() throws(KeychainError) {
        try perform { db throws(KeychainError) in
            // Also if it fails: the log may have been moved into the database as a whole before.
            logMayBegin.store(true, ordering: .relaxed)
            // Most of the work, during which others can read.
            try KeychainError.mapping { _ = try db.checkpoint(.passive) }
            // The log cannot be emptied while another connection reads it.
            try snapshots.keepingOut { () throws(KeychainError) in
                try KeychainError.mapping { _ = try db.checkpoint(.truncate) }
            }
        }
    }
}
