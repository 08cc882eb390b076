internal import GRDB
internal import Keychain
internal import SQLiteRows

/// The statements that compare an index with its table.
extension StoreIndex {
    /// Returns a statement that checks whether each row of a table has its entry in every index. Columns: row number, 1
    /// or 0 per index.
    static func rowsWithEntries(of table: IndexedTable) -> String {
        switch table {
        case .directory: rowsWithDirectoryEntries
        case .item: rowsWithItemEntries
        }
    }

    private static let rowsWithDirectoryEntries = rowsWithEntries(of: IndexedTable.directory.name)
    private static let rowsWithItemEntries = rowsWithEntries(of: IndexedTable.item.name)

    private static func rowsWithEntries(of table: String) -> String {
        let tests = all.filter { $0.table == table }.map(\.test).joined(separator: " AND ")
        return "SELECT row.id, \(tests) FROM \(table) AS row NOT INDEXED WHERE row.id > ? ORDER BY row.id LIMIT ?"
    }

    /// The statement that checks whether one row has its entry in this index.
    var rowWithEntry: String { "SELECT \(test) FROM \(table) AS row NOT INDEXED WHERE row.id = ?" }

    /// The condition that `row` has its entry. IS, because a damaged row may have no key.
    private var test: String {
        let search = """
            EXISTS (SELECT 1 FROM \(table) AS entry INDEXED BY \(name) \
            WHERE \(entryCondition)entry.\(key) IS row.\(key) AND entry.id = row.id)
            """
        return condition.map { "(row.\($0) IS NULL OR \(search))" } ?? search
    }

    /// Decodes an entry from the columns: key, row number, whether the row has that key. The entry is nil if there is
    /// no key.
    func entry(_ row: borrowing StatementRow) throws -> (entry: IndexPosition.Entry?, isRight: Bool) {
        guard !row.isNull(0), !row.isNull(1) else { return (nil, false) }
        // Unique indexes are those of lookup tags.
        let key: IndexPosition.Key = isUnique ? .tag(try row.bytes(0)) : .number(try row.number(0))
        return (IndexPosition.Entry(key: key, row: try row.rowID(1)), try row.number(2) != 0)
    }

    var firstEntries: String { entries("true") + " ORDER BY entry.\(key), entry.id LIMIT ?" }
    var entriesOfKey: String { entries("entry.\(key) = ? AND entry.id > ?") + " ORDER BY entry.id LIMIT ?" }
    var entriesAfterKey: String { entries("entry.\(key) > ?") + " ORDER BY entry.\(key), entry.id LIMIT ?" }

    /// Returns a statement for the key and row number of each entry, and whether the row with that number has the key.
    private func entries(_ range: String) -> String {
        let rowCondition = condition.map { " AND row.\($0) IS NOT NULL" } ?? ""
        return """
            SELECT entry.\(key), entry.id, row.\(key) IS entry.\(key)\(rowCondition) \
            FROM \(table) AS entry INDEXED BY \(name) LEFT JOIN \(table) AS row NOT INDEXED ON row.id = entry.id \
            WHERE \(entryCondition)\(range)
            """
    }

    private var entryCondition: String { condition.map { "entry.\($0) IS NOT NULL AND " } ?? "" }
}
