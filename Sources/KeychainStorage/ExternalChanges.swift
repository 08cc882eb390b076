internal import LinuxSupport
internal import SystemPackage

/// Detects changes of a database and its log by other programs (contract, S2).
///
/// SQLite's lock is advisory, and a row that was replaced by an older version of itself is valid. Used by the lock's
/// owner, so that no transaction or checkpoint of this process runs during a check.
struct ExternalChanges: Sendable {
    /// The log as this process has left it.
    private enum Log: Sendable {
        case unknown
        /// After a write: the log's size in bytes, and an upper bound of the time of its last write. The times are not
        /// queried, because the next commit would then take a third longer (``FileStatus``).
        case written(size: UInt64, until: Int64)
        /// After a query of the times since the last write, so that another query has no cost.
        case seen(FileStamp)
    }

    private let path: String
    private let logPath: String
    /// Whether this machine's clock assigns the times of the files.
    private let hasLocalTimes: Bool
    private var file: FileStamp?
    private var log: Log

    init(path: String, logPath: String) {
        (self.path, self.logPath) = (path, logPath)
        hasLocalTimes = !FileSystemType.isRemote(path)
        file = FileStamp(at: path)
        log = FileStamp(at: logPath).map { .seen($0) } ?? .unknown
    }

    /// Records that a transaction has ended: the log may have grown.
    mutating func noteLog() {
        guard let status = FileStatus(at: logPath) else { return log = .unknown }
        log = .written(size: status.size, until: SystemClock.nanoseconds)
    }

    /// Records that the log has been moved into the database.
    mutating func noteFile() { file = FileStamp(at: path) }

    /// Opens another connection. As root, SQLite then sets the log's owner (`unixOpen` in os_unix.c), which changes the
    /// time of the inode, but not that of the last write. ``find(isThorough:)`` detects other changes.
    mutating func whileOpening<Result>(_ open: () -> Result) -> Result {
        let old = FileStamp(at: logPath)
        let isKnown = old.map { !isChanged($0) } ?? false
        let result = open()
        if isKnown, let old, let new = FileStamp(at: logPath), (old.size, old.modified) == (new.size, new.modified) {
            log = .seen(new)
        }
        return result
    }

    /// Returns whether another program has changed the database or its log since the last call or record.
    ///
    /// - Parameter isThorough: Whether to query the times of the log even if that makes the next commit slower.
    mutating func find(isThorough: Bool) -> Bool {
        let isFileChanged = findInFile()
        let isLogChanged = findInLog(isThorough)
        return isFileChanged || isLogChanged
    }

    private mutating func findInFile() -> Bool {
        let old = file
        file = FileStamp(at: path)
        return Self.differ(old, file)
    }

    private mutating func findInLog(_ isThorough: Bool) -> Bool {
        if !isThorough, case .written(let size, _) = log {
            guard let new = FileStatus(at: logPath)?.size, new != size else { return false }
            noteLog()
            return true
        }
        guard let new = FileStamp(at: logPath) else { return false }
        defer { log = .seen(new) }
        return isChanged(new)
    }

    /// Whether another program has changed the log, whose present stamp is `new`.
    private func isChanged(_ new: FileStamp) -> Bool {
        switch log {
        case .unknown: false
        case .seen(let old): Self.differ(old, new)
        case .written(let size, let end): new.size != size || hasLocalTimes && new.changed > end
        }
    }

    /// Another file with that name is not a change: ``WriterConnection/isInPlace`` detects it.
    private static func differ(_ old: FileStamp?, _ new: FileStamp?) -> Bool {
        guard let old, let new, old.device == new.device, old.inode == new.inode else { return false }
        return old != new
    }
}
