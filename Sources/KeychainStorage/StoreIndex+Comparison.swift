internal import GRDB
internal import Keychain
internal import SQLiteRows

/// The statements that compare an index with its table.
extension StoreIndex {
    /// Returns a statement that checks whether each row of a table has its entry in every index. Columns: row number, 1
    /// or 0 per index.
    static func rowsWithEntries(of table: IndexedTable) -> String { rowsWithEntries[table] ?? "" }

    private static let rowsWithEntries = Dictionary(
        uniqueKeysWithValues: IndexedTable.allCases.map { ($0, rowsWithEntries($0)) })

    private static func rowsWithEntries(_ table: IndexedTable) -> String {
        let number = "row.\(table.number)"
        let tests = all.filter { $0.table == table.name }.map(\.test).joined(separator: " AND ")
        return """
            SELECT \(number), \(table.all(tests)) FROM \(table.name) AS row NOT INDEXED WHERE \(number) > ? \
            \(table.group("row")) ORDER BY \(number) LIMIT ?
            """
    }

    /// The statement that checks whether one row has its entry in this index.
    var rowWithEntry: String {
        let number = "row.\(indexed.number)"
        return """
            SELECT \(indexed.all(test)) FROM \(table) AS row NOT INDEXED WHERE \(number) = ? \(indexed.group("row"))
            """
    }

    private var indexed: IndexedTable { IndexedTable.allCases.first { $0.name == table } ?? .item }

    /// The condition that `row` has its entry. IS, because a damaged row may have no key.
    private var test: String {
        let search = """
            EXISTS (SELECT 1 FROM \(table) AS entry INDEXED BY \(name) \
            WHERE \(entryCondition)entry.\(key) IS row.\(key) AND \(indexed.isSameRow))
            """
        return condition.map { "(row.\($0) IS NULL OR \(search))" } ?? search
    }

    /// Decodes an entry from the columns: key, row number, whether the row has that key. The entry is nil if there is
    /// no key.
    func entry(_ row: borrowing StatementRow) throws -> (entry: IndexPosition.Entry?, isRight: Bool) {
        guard !row.isNull(0), !row.isNull(1) else { return (nil, false) }
        let key: IndexPosition.Key = isOfTags ? .tag(try row.bytes(0)) : .number(try row.number(0))
        return (IndexPosition.Entry(key: key, row: try row.rowID(1)), try row.number(2) != 0)
    }

    var firstEntries: String { entries("true", order: "entry.\(key), entry.\(indexed.number)") }
    var entriesOfKey: String {
        entries("entry.\(key) = ? AND entry.\(indexed.number) > ?", order: "entry.\(indexed.number)")
    }
    var entriesAfterKey: String { entries("entry.\(key) > ?", order: "entry.\(key), entry.\(indexed.number)") }

    /// Returns a statement for the key and row number of each entry, and whether the row with that number has the key.
    private func entries(_ range: String, order: String) -> String {
        let rowCondition = condition.map { " AND row.\($0) IS NOT NULL" } ?? ""
        return """
            SELECT entry.\(key), entry.\(indexed.number), \(indexed.all("row.\(key) IS entry.\(key)\(rowCondition)")) \
            FROM \(table) AS entry INDEXED BY \(name) LEFT JOIN \(table) AS row NOT INDEXED ON \(indexed.isSameRow) \
            WHERE \(entryCondition)\(range) \(indexed.group("entry", key)) ORDER BY \(order) LIMIT ?
            """
    }

    private var entryCondition: String { condition.map { "entry.\($0) IS NOT NULL AND " } ?? "" }
}

/// A table without row numbers has several rows for one item, which are compared together.
extension IndexedTable {
    /// The column with the number that identifies a row, or several.
    var number: String { self == .itemKey ? "item" : "id" }

    fileprivate var isSameRow: String {
        self == .itemKey ? "entry.item = row.item AND entry.kind = row.kind" : "entry.id = row.id"
    }

    /// The condition that a test holds for all rows of a group.
    fileprivate func all(_ test: String) -> String { self == .itemKey ? "min(\(test))" : test }

    fileprivate func group(_ alias: String, _ key: String? = nil) -> String {
        guard self == .itemKey else { return "" }
        return "GROUP BY " + [key, number].compactMap { $0.map { "\(alias).\($0)" } }.joined(separator: ", ")
    }
}
