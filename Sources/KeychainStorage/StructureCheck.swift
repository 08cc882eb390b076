internal import GRDB

/// The check of a database file's structure: trees, pages and columns.
enum StructureCheck {
    /// Returns the number of faults. The contents of indexes are not included: ``RecordReader/compareIndexes()`` names
    /// the rows.
    ///
    /// `PRAGMA integrity_check` also reports pages that are neither in a tree nor free. Without a fault, every row is
    /// reachable.
    static func faults(in db: Database) throws -> Int {
        var faults = 0
        let messages = try String.fetchCursor(db, sql: "PRAGMA integrity_check(10000)")
        while let message = try messages.next() { faults += isFault(message) ? 1 : 0 }
        let strays = """
            SELECT count(*) FROM secret WHERE item NOT IN \
            (SELECT id FROM item WHERE secret IS NULL AND length(secret_seals) > 0)
            """
        return faults + (try Int.fetchOne(db, sql: strays) ?? 0)
    }

    private static func isFault(_ message: String) -> Bool {
        let isOfIndex = ["missing from index", "entries in index", "non-unique entry in index"]
        return message != "ok" && !isOfIndex.contains { message.contains($0) }
    }
}
