/// How rows and indexes differ.
package struct IndexFindings: Hashable, Sendable {
    /// So many rows are named; further ones are only counted.
    static let namedLimit = 1000

    /// Rows to which an index that should does not lead: look-ups or listings miss them.
    package private(set) var directories: [RowID] = []
    package private(set) var items: [RowID] = []
    /// How many these are.
    package private(set) var unindexedRows = 0
    /// Entries that lead to no row, or to another one.
    package private(set) var strayEntries = 0
    /// Whether a page of a table or index could not be read, or has its contents in no order.
    package internal(set) var isIncomplete = false
    /// Whether rows were passed over behind many that could not be read, so that nothing is known of their entries.
    package internal(set) var hasSkippedRows = false

    /// Whether every row is found through every index, and nothing else is.
    package var areSound: Bool { !hasDifferences && !isIncomplete }
    package var hasDifferences: Bool { count > 0 }
    /// Rows that are missed, and entries that are wrong.
    package var count: Int { unindexedRows + strayEntries }

    mutating func add(_ rows: [RowID], of table: IndexedTable) {
        unindexedRows += rows.count
        switch table {
        case .directory: directories += rows.prefix(max(0, Self.namedLimit - directories.count))
        case .item: items += rows.prefix(max(0, Self.namedLimit - items.count))
        }
    }

    mutating func addStrays(_ count: Int) { strayEntries += count }
}

/// Compares the rows with the indexes in both directions, a page at a time.
///
/// That every row is found by search proves the order of an index; the way back proves that an index leads nowhere else. Commits
/// between the pages do no harm: a page is read at one moment, and a commit changes rows and entries together. Reads no key and
/// no ciphertext, so it also works while locked.
struct IndexScan {
    private enum Place {
        case rows(IndexedTable, after: RowID, limit: Int)
        case entries(after: IndexPosition)
        case end
    }

    private(set) var findings = IndexFindings()
    private var place: Place
    private let pageSize: Int
    /// Where a page cannot be read, it is read in so many parts.
    private static let parts = 32
    /// So many row numbers in a row are tried one by one; then the end of what cannot be read is searched for.
    private static let patience = 64
    private var failures = 0

    init(pageSize: Int = 512) {
        self.pageSize = pageSize
        place = .rows(.directory, after: RowID(rawValue: .min), limit: pageSize)
    }

    var hasEnded: Bool { if case .end = place { true } else { false } }

    /// Whether it is known which rows the indexes miss; what follows tells of superfluous entries, which hide nothing.
    var hasComparedRows: Bool { if case .rows = place { false } else { true } }

    /// Compares one page. Where one cannot be read, the scan goes on behind it.
    mutating func step(_ reader: any RecordReader) throws(KeychainError) {
        switch place {
        case .rows(let table, let after, let limit): try compareRows(of: table, after: after, limit: limit, reader)
        case .entries(let position): try compareEntries(after: position, reader)
        case .end: return
        }
    }

    private mutating func compareRows(
        of table: IndexedTable, after: RowID, limit: Int, _ reader: any RecordReader
    ) throws(KeychainError) {
        if let page = try Self.rows(table, after: after, limit: limit, reader) {
            findings.add(page.unindexed, of: table)
            if page.isIncomplete { findings.isIncomplete = true }
            failures = 0
            return go(to: page.last, of: table, limit: min(pageSize, limit * Self.parts))
        }
        guard limit == 1 else { return go(to: after, of: table, limit: max(1, limit / Self.parts)) }
        findings.isIncomplete = true
        failures += 1
        if failures < Self.patience {
            return go(to: RowID(rawValue: max(0, after.rawValue) + 1), of: table, limit: 1)
        }
        findings.hasSkippedRows = true
        failures = 0
        go(to: try Self.end(ofUnreadableAfter: after, in: table, reader), of: table, limit: 1)
    }

    private mutating func go(to last: RowID?, of table: IndexedTable, limit: Int) {
        if let last { return place = .rows(table, after: last, limit: limit) }
        place =
            switch table {
            case .directory: .rows(.item, after: RowID(rawValue: .min), limit: pageSize)
            case .item: .entries(after: .start)
            }
    }

    private mutating func compareEntries(
        after position: IndexPosition, _ reader: any RecordReader
    ) throws(KeychainError) {
        let page = try unlessDamaged { () throws(KeychainError) in
            try reader.indexEntries(after: position, limit: pageSize)
        }
        guard let page else {
            findings.isIncomplete = true
            return place = .entries(after: IndexPosition(index: position.index + 1))
        }
        findings.addStrays(page.strays)
        place = page.next.map { .entries(after: $0) } ?? .end
    }

    // MARK: Rows that cannot be compared

    private static func rows(
        _ table: IndexedTable, after: RowID, limit: Int, _ reader: any RecordReader
    ) throws(KeychainError) -> IndexedRows? {
        try unlessDamaged { () throws(KeychainError) in
            try reader.indexedRows(table, after: after, limit: limit)
        }
    }

    /// The least number behind `after` from which on a row can be compared again, found in O(log n) attempts; nil if there is none.
    private static func end(
        ofUnreadableAfter after: RowID, in table: IndexedTable, _ reader: any RecordReader
    ) throws(KeychainError) -> RowID? {
        var unreadable = max(0, after.rawValue)
        var distance: Int64 = 1
        while try rows(table, after: RowID(rawValue: unreadable + distance), limit: 1, reader) == nil {
            unreadable += distance
            distance *= 2
            guard unreadable + distance < RowID.limit.rawValue else { return nil }
        }
        var readable = unreadable + distance
        while readable - unreadable > 1 {
            let middle = unreadable + (readable - unreadable) / 2
            if try rows(table, after: RowID(rawValue: middle), limit: 1, reader) == nil {
                unreadable = middle
            } else {
                readable = middle
            }
        }
        return RowID(rawValue: readable)
    }
}

extension RecordReader {
    /// Compares all rows with all indexes.
    package func compareIndexes() throws(KeychainError) -> IndexFindings {
        var scan = IndexScan()
        while !scan.hasEnded { try scan.step(self) }
        return scan.findings
    }
}
