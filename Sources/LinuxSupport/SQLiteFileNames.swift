import Foundation

/// The names of the files that SQLite creates next to a database (sqlite.org/tempfiles.html).
public enum SQLiteFileNames {
    /// The suffixes of all such names.
    public static let suffixes = [logSuffix, "-shm", journalSuffix]
    private static let logSuffix = "-wal"
    private static let journalSuffix = "-journal"

    /// The name of the write-ahead log.
    public static func log(of database: String) -> String { database + logSuffix }

    /// The name of the rollback journal.
    public static func journal(of database: String) -> String { database + journalSuffix }

    /// Whether the log contains data, which only a connection for writing can recover. An empty log counts as none.
    public static func hasLog(_ database: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: log(of: database))
        return attributes?[.size] as? Int ?? 0 > 0
    }

    /// Removes the log, regardless of its contents.
    public static func removeLog(of database: String) {
        try? FileManager.default.removeItem(atPath: log(of: database))
    }

    /// Removes all files next to a database.
    public static func removeAll(of database: String) {
        for suffix in suffixes { try? FileManager.default.removeItem(atPath: database + suffix) }
    }
}
