internal import GRDB
internal import SQLiteRows

/// The check of a database file's structure: trees, pages and columns.
enum StructureCheck {
    /// Returns the number of faults. The contents of indexes are not included: ``RecordReader/compareIndexes()`` names
    /// the rows.
    ///
    /// `PRAGMA integrity_check` also reports pages that are neither in a tree nor free. Without a fault, every row is
    /// reachable.
    static func faults(in db: Database) throws -> Int {
        var faults = try DatabaseVFS.requiringReads { try faultsOfTrees(in: db) }
        for sql in [strays, sharedNumbers, strayItemKeys] { faults += try Int.fetchOne(db, sql: sql) ?? 0 }
        return faults
    }

    private static func faultsOfTrees(in db: Database) throws -> Int {
        var faults = 0
        let messages = try String.fetchCursor(db, sql: "PRAGMA integrity_check(10000)")
        while let message = try messages.next() { faults += isFault(message) ? 1 : 0 }
        return faults
    }

    /// The number of long secrets to which no row, or several, refer.
    private static let strays = """
        WITH used (id) AS (SELECT secret_row FROM item WHERE secret_row IS NOT NULL \
        UNION ALL SELECT secret_row FROM past WHERE secret_row IS NOT NULL) \
        SELECT (SELECT count(*) FROM secret WHERE id NOT IN (SELECT id FROM used)) \
        + (SELECT count(*) FROM (SELECT 1 FROM used GROUP BY id HAVING count(*) > 1))
        """

    /// The number of item keys without an item. With NOT INDEXED SQLite reads them from the index on tags, which has all columns.
    private static let strayItemKeys = """
        SELECT count(*) FROM item_key INDEXED BY sqlite_autoindex_item_key_1 WHERE item NOT IN (SELECT id FROM item NOT INDEXED)
        """

    /// The number of row numbers that rows of two tables have.
    private static let sharedNumbers = """
        SELECT count(*) FROM (SELECT 1 FROM (SELECT id FROM item NOT INDEXED UNION ALL SELECT id FROM directory NOT INDEXED \
        UNION ALL SELECT id FROM past NOT INDEXED UNION ALL SELECT id FROM secret) GROUP BY id HAVING count(*) > 1)
        """

    private static func isFault(_ message: String) -> Bool {
        let isOfIndex = ["missing from index", "entries in index", "non-unique entry in index"]
        return message != "ok" && !isOfIndex.contains { message.contains($0) }
    }
}
