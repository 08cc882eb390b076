/// Differences between rows and indexes.
package struct IndexFindings: Hashable, Sendable {
    /// The maximum number of rows of each table that are listed; further rows are only counted.
    static let namedLimit = 1000

    /// The rows whose entry in at least one index is missing or, in an index that is used for listings, cannot be read:
    /// lookups or listings miss them.
    package private(set) var directories: [RowID] = []
    package private(set) var items: [RowID] = []
    /// The number of these rows, and of such past values and item keys.
    package private(set) var unindexedRows = 0
    /// The number of entries that refer to no row or to a row with another key.
    package private(set) var wrongEntries = 0
    /// Whether a page of a table or index could not be read.
    package internal(set) var isIncomplete = false
    /// Whether rows were skipped after many rows that could not be read, so that their entries are unknown.
    package internal(set) var hasSkippedRows = false

    /// Whether each index has exactly one entry for each row that it must list, and no other entry.
    package var areConsistent: Bool { !hasDifferences && !isIncomplete }
    package var hasDifferences: Bool { count > 0 }
    /// The number of missed rows and wrong entries.
    package var count: Int { unindexedRows + wrongEntries }

    mutating func add(_ rows: [RowID], of table: IndexedTable) {
        unindexedRows += rows.count
        switch table {
        case .directory: directories += rows.prefix(max(0, Self.namedLimit - directories.count))
        case .item: items += rows.prefix(max(0, Self.namedLimit - items.count))
        case .past, .itemKey: break
        }
    }

    mutating func addWrongEntries(_ count: Int) { wrongEntries += count }
}
