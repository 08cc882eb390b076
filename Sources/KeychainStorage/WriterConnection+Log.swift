internal import Foundation
internal import GRDB
internal import Keychain
internal import LinuxSupport
internal import SQLiteRows
internal import Synchronization

/// The state of the log of an open database. Used by the lock's owner.
struct LogProgress: Sendable {
    /// The number of pages after which a checkpoint is due: SQLite's default.
    static let pageLimit = 1000

    /// Whether the next transaction may be the first in the log.
    var mayBegin = true
    /// The number of pages written since the last complete checkpoint.
    var pages = 0
    /// Whether all transactions in the log are durable. The one of ``WriterConnection/beginLog(_:_:)`` becomes durable
    /// with the next commit.
    var isDurable = true
    /// Whether the log must be truncated before the next commit: a transaction in it may never reach the disk, and a
    /// log ends for a reader where a frame is missing. fsync(2) reports an error only once.
    var mustBeEmptied = false

    /// Records that a commit or a checkpoint has failed, possibly at its sync.
    mutating func fail() {
        if !isDurable { mustBeEmptied = true }
    }
}

/// The write-ahead log of an open database.
extension WriterConnection {
    /// The size of the log in bytes, the maximum by which a checkpoint extends the database.
    var logBytes: Int {
        FileStatus(at: logPath).map { Int(clamping: $0.size) } ?? 0
    }

    /// Extends the log after a commit, or moves it into the database. Called by the lock's owner.
    func logHasGrown(_ db: Database) {
        let known = log.withLock { $0 }
        logPreallocation.withLock { $0.replenish(known) }
        let pages = logProgress.withLock { progress in
            progress.isDurable = true
            progress.pages += db.takePagesWritten()
            return progress.pages
        }
        if pages >= LogProgress.pageLimit { moveLog(db) }
    }

    /// Moves the log into the database, after which SQLite begins the log again. As SQLite does with
    /// `wal_autocheckpoint`, but without ``beginLog(_:_:)``. After a failure, or while other connections read the log,
    /// the next commit retries.
    private func moveLog(_ db: Database) {
        let result = try? db.checkpoint(.passive)
        externalChanges.withLock { $0.noteFile() }
        logProgress.withLock { progress in
            progress.mayBegin = true
            if let result, result.checkpointedFrameCount == result.walFrameCount { progress.pages = 0 }
        }
    }

    /// Writes the store page unchanged, in the first transaction of an empty log, by which ``LeftLog`` recognizes the
    /// file that the log belongs to. Called by the lock's owner before a transaction.
    ///
    /// Commits without waiting for the disk: the header of the log is synchronized here instead of with the next
    /// transaction, and the frame with that one.
    ///
    /// - Parameter ending: Permits to begin the log.
    /// - Returns: The reason of a failure. No transaction may be committed then; the next call retries.
    func beginLog(_ db: Database, _ ending: (any TransactionEnding)?) -> KeychainFault? {
        do throws(KeychainFault) {
            if logProgress.withLock({ $0.mustBeEmptied }) { try emptyLog(db) }
            guard logProgress.withLock({ $0.mayBegin }) else { return nil }
            try ending?.willBeginLog(SQLiteRecords(db: db))
            try KeychainFault.mapping(db) { try Self.commitStorePage(db) }
        } catch {
            return error
        }
        logProgress.withLock { progress in
            progress.mayBegin = false
            progress.isDurable = false
        }
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

    /// Changes a bit of a value and changes it back, because SQLite writes no page if a value is overwritten by equal
    /// bytes. The size stays the same, so that nothing moves within the page.
    private static func rewriteStorePage(_ db: Database) throws {
        // A new store has no row until it is filled, before it gets its name.
        guard let salt = try SQLiteRecords(db: db).row("SELECT salt FROM store", [], { try $0.bytes(0, count: 16) })
        else { return }
        var changed = salt
        changed[0] ^= 1
        for value in [changed, salt] { _ = try db.change("UPDATE store SET salt = ?", [.blob(value)]) }
    }

    /// Moves the log into the database and truncates it.
    func erase() throws(KeychainFault) {
        try perform { db throws(KeychainFault) in try emptyLog(db) }
    }

    /// Moves the log into the database and truncates it. Called by the lock's owner, outside of a transaction.
    private func emptyLog(_ db: Database) throws(KeychainFault) {
        findExternalChanges(isThorough: true, db)
        defer {
            externalChanges.withLock { changes in
                changes.noteFile()
                changes.noteLog()
            }
        }
        do throws(KeychainFault) {
            // The log cannot be truncated while another connection reads it.
            try snapshots.excludingReaders { () throws(KeychainFault) in
                try KeychainFault.mapping(db) { _ = try db.checkpoint(.truncate) }
            }
        } catch {
            logProgress.withLock { progress in
                progress.fail()
                // The log may have been moved into the database completely before.
                (progress.mayBegin, progress.pages) = (true, 0)
            }
            throw error
        }
        logProgress.withLock { $0 = LogProgress() }
    }
}
