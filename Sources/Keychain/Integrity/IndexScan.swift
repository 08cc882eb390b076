/// Compares the rows with the indexes in both directions, one page at a time.
///
/// First, each row is searched for in each index, which also proves that the entries are in order. Then each entry is
/// compared with its row. Commits between two pages are harmless: each page is one snapshot, and a commit changes rows
/// and entries together. The scan needs no key, so it works while the keychain is locked.
struct IndexScan {
    private enum Stage {
        case rows(IndexedTable, after: RowID, limit: Int)
        case entries(after: IndexPosition)
        case end
    }

    private(set) var findings = IndexFindings()
    private var stage: Stage
    private let pageSize: Int
    /// The number of parts in which a page is read again after a failed read.
    private static let parts = 32
    /// The number of consecutive row numbers that are tried one by one before the scan searches for the next readable row.
    private static let failureLimit = 64
    private var failures = 0

    init(pageSize: Int = 512) {
        self.pageSize = pageSize
        stage = .rows(.directory, after: RowID(rawValue: .min), limit: pageSize)
    }

    var hasEnded: Bool { if case .end = stage { true } else { false } }

    /// Whether all rows have been searched for. The rest of the scan finds superfluous entries, which hide no row.
    var hasComparedRows: Bool { if case .rows = stage { false } else { true } }

    /// Compares one page. After a page that cannot be read, the scan continues with the next one.
    mutating func step(_ reader: any RecordReader) throws(KeychainFault) {
        switch stage {
        case .rows(let table, let after, let limit): try compareRows(of: table, after: after, limit: limit, reader)
        case .entries(let position): try compareEntries(after: position, reader)
        case .end: return
        }
    }

    private mutating func compareRows(
        of table: IndexedTable, after: RowID, limit: Int, _ reader: any RecordReader
    ) throws(KeychainFault) {
        if let page = try Self.rows(table, after: after, limit: limit, reader) {
            findings.add(page.unindexed, of: table)
            if page.isIncomplete { findings.isIncomplete = true }
            failures = 0
            return go(to: page.last, of: table, limit: min(pageSize, limit * Self.parts))
        }
        findings.isIncomplete = true
        guard limit == 1 else { return go(to: after, of: table, limit: max(1, limit / Self.parts)) }
        failures += 1
        if failures < Self.failureLimit, after < .limit {
            return go(to: RowID(rawValue: max(0, after.rawValue) + 1), of: table, limit: 1)
        }
        findings.hasSkippedRows = true
        failures = 0
        go(to: try Self.end(ofUnreadableAfter: after, in: table, reader), of: table, limit: 1)
    }

    private mutating func go(to last: RowID?, of table: IndexedTable, limit: Int) {
        if let last { return stage = .rows(table, after: last, limit: limit) }
        stage =
            switch table {
            case .directory: .rows(.item, after: RowID(rawValue: .min), limit: pageSize)
            case .item: .rows(.past, after: RowID(rawValue: .min), limit: pageSize)
            case .past: .rows(.itemKey, after: RowID(rawValue: .min), limit: pageSize)
            case .itemKey: .entries(after: .start)
            }
    }

    private mutating func compareEntries(
        after position: IndexPosition, _ reader: any RecordReader
    ) throws(KeychainFault) {
        let page = try nilIfDamaged { () throws(KeychainFault) in
            try reader.indexEntries(after: position, limit: pageSize)
        }
        guard let page else {
            findings.isIncomplete = true
            return stage = .entries(after: IndexPosition(index: position.index + 1))
        }
        findings.addWrongEntries(page.wrongEntries)
        stage = page.next.map { .entries(after: $0) } ?? .end
    }

    // MARK: Rows that cannot be compared

    private static func rows(
        _ table: IndexedTable, after: RowID, limit: Int, _ reader: any RecordReader
    ) throws(KeychainFault) -> IndexedRows? {
        try nilIfDamaged { () throws(KeychainFault) in
            try reader.indexedRows(table, after: after, limit: limit)
        }
    }

    /// Finds the first row number greater than `after` after which a row can be compared, in O(log n) attempts; nil if not found.
    private static func end(
        ofUnreadableAfter after: RowID, in table: IndexedTable, _ reader: any RecordReader
    ) throws(KeychainFault) -> RowID? {
        guard after < .limit else { return nil }
        var unreadable = max(0, after.rawValue)
        var distance: Int64 = 1
        while try rows(table, after: RowID(rawValue: unreadable + distance), limit: 1, reader) == nil {
            unreadable += distance
            distance *= 2
            guard distance < RowID.limit.rawValue - unreadable else { return nil }
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
    package func compareIndexes() throws(KeychainFault) -> IndexFindings {
        var scan = IndexScan()
        while !scan.hasEnded { try scan.step(self) }
        return scan.findings
    }
}
