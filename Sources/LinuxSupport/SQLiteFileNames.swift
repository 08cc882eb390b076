import Foundation

/// What SQLite keeps beside a file of it (sqlite.org/tempfiles.html).
public enum SQLiteFileNames {
    /// What the names of all of them end with after the file's.
    public static let suffixes = [logSuffix, "-shm", journalSuffix]
    private static let logSuffix = "-wal"
    private static let journalSuffix = "-journal"

    /// The name of the write-ahead log.
    public static func log(of database: String) -> String { database + logSuffix }

    /// The name of the rollback journal.
    public static func journal(of database: String) -> String { database + journalSuffix }

    /// Whether the log holds anything, which only an opening for writing can bring in. An empty one is none: whoever opens the
    /// file makes one, or goes on with it.
    public static func hasLog(_ database: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: log(of: database))
        return attributes?[.size] as? Int ?? 0 > 0
    }

    /// Removes the log, whatever it holds.
    public static func removeLog(of database: String) {
        try? FileManager.default.removeItem(atPath: log(of: database))
    }

    /// Removes all that is kept beside a file.
    public static func removeAll(of database: String) {
        for suffix in suffixes { try? FileManager.default.removeItem(atPath: database + suffix) }
    }
}
