internal import GRDB
internal import Keychain
internal import SQLiteRows

/// Comparison of rows and indexes in both directions. Every statement names the index that it reads, or none: SQLite
/// would choose the cheapest index, which may be the damaged one.
extension SQLiteRecords {
    func indexedRows(_ table: IndexedTable, after: RowID, limit: Int) throws(KeychainFault) -> IndexedRows {
        do throws(KeychainFault) {
            return try rowsWithEntries(of: table, after: after, limit: limit)
        } catch {
            guard error == .decode, limit == 1 else { throw error }
            return try rowByIndexes(of: table, after: after)
        }
    }

    private func rowsWithEntries(
        of table: IndexedTable, after: RowID, limit: Int
    ) throws(KeychainFault) -> IndexedRows {
        var unindexed: [RowID] = []
        let rows = try page(StoreIndex.rowsWithEntries(of: table), after: after, limit: limit) { row in
            let id = try row.rowID(0)
            if try row.number(1) == 0 { unindexed.append(id) }
            return id
        }
        return IndexedRows(unindexed: unindexed, last: rows.count < limit ? nil : rows.last)
    }

    /// Checks one row in each index, because an unreadable page of one index must not hide that another index misses
    /// the row.
    private func rowByIndexes(of table: IndexedTable, after: RowID) throws(KeychainFault) -> IndexedRows {
        let number = table.number
        let next = "SELECT \(number) FROM \(table.name) NOT INDEXED WHERE \(number) > ? ORDER BY \(number) LIMIT 1"
        guard let id = try row(next, [.row(after)], { try $0.rowID(0) }) else {
            return IndexedRows(unindexed: [], last: nil)
        }
        guard id > after else { throw .decode }
        var (isUnindexed, isIncomplete) = (false, false)
        for index in StoreIndex.all where index.table == table.name {
            do throws(KeychainFault) {
                let hasEntry = try row(index.rowWithEntry, [.row(id)]) { try $0.number(0) != 0 }
                if hasEntry == false { isUnindexed = true }
            } catch {
                guard error == .decode else { throw error }
                isIncomplete = true
                // A lookup by tag fails at the same page. A listing may end before it, without an error.
                if !index.isUnique { isUnindexed = true }
            }
        }
        return IndexedRows(unindexed: isUnindexed ? [id] : [], last: id, isIncomplete: isIncomplete)
    }

    func indexEntries(after position: IndexPosition, limit: Int) throws(KeychainFault) -> IndexEntries {
        guard StoreIndex.all.indices.contains(position.index) else {
            return IndexEntries(wrongEntries: 0, next: nil)
        }
        let found = try entries(of: StoreIndex.all[position.index], after: position.entry, limit: limit)
        var wrongEntries = 0
        var last = position.entry
        for (entry, isRight) in found {
            guard let entry, last.map({ $0.isBefore(entry) }) != false else {
                // The scan cannot continue after an entry that is out of order.
                return IndexEntries(wrongEntries: wrongEntries + 1, next: Self.start(behind: position))
            }
            if !isRight { wrongEntries += 1 }
            last = entry
        }
        guard found.count < limit else {
            return IndexEntries(wrongEntries: wrongEntries, next: IndexPosition(index: position.index, entry: last))
        }
        return IndexEntries(wrongEntries: wrongEntries, next: Self.start(behind: position))
    }

    /// Returns the start of the next index; nil after the last one.
    private static func start(behind position: IndexPosition) -> IndexPosition? {
        let next = position.index + 1
        return StoreIndex.all.indices.contains(next) ? IndexPosition(index: next) : nil
    }

    /// Reads entries, and whether each refers to a row with its key.
    private func entries(
        of index: StoreIndex, after last: IndexPosition.Entry?, limit: Int
    ) throws(KeychainFault) -> [(entry: IndexPosition.Entry?, isRight: Bool)] {
        guard let last else { return try rows(index.firstEntries, [.limit(limit)], index.entry) }
        // Reads the other rows of the same key first: a comparison of (key, row) with a pair would scan all of them.
        let found = try rows(index.entriesOfKey, [last.key.value, .row(last.row), .limit(limit)], index.entry)
        guard found.count < limit else { return found }
        return found
            + (try rows(index.entriesAfterKey, [last.key.value, .limit(limit - found.count)], index.entry))
    }

    func rowsOfSharedTags(_ table: IndexedTable) throws(KeychainFault) -> [[RowID]] {
        let sql = """
            SELECT id, tag FROM \(table.name) NOT INDEXED WHERE tag IN \
            (SELECT tag FROM \(table.name) NOT INDEXED GROUP BY tag HAVING count(*) > 1) ORDER BY tag, id
            """
        var tag: [UInt8]?
        var shared: [[RowID]] = []
        for row in try rows(sql, [], { row in (id: try row.rowID(0), tag: try row.bytes(1)) }) {
            if row.tag == tag { shared[shared.count - 1].append(row.id) } else { shared.append([row.id]) }
            tag = row.tag
        }
        return shared
    }

    /// Drops and creates the indexes instead of REINDEX: a row without its entry can be changed only while there is no
    /// index. The rows of sqlite_schema keep their order, because indexes are the last ones and all of them are
    /// dropped.
    func rebuildIndexes(
        _ separate: (any RecordWriter) throws(KeychainFault) -> Void
    ) throws(KeychainFault) {
        erasures?.note()
        for index in StoreIndex.all { try executeOnce("DROP INDEX \(index.name)") }
        try separate(self)
        for index in StoreIndex.all { try executeOnce(index.statement) }
    }

    /// Executes a schema change, whose statement is not kept for reuse.
    private func executeOnce(_ sql: String) throws(KeychainFault) {
        guard db.isInsideTransaction else { throw .io(ResultCode.SQLITE_ABORT.rawValue) }
        try KeychainFault.mapping(db) { try db.execute(sql: sql) }
    }
}

extension IndexPosition.Entry {
    fileprivate func isBefore(_ other: IndexPosition.Entry) -> Bool {
        if key == other.key { return row < other.row }
        return switch (key, other.key) {
        case (.number(let a), .number(let b)): a < b
        case (.tag(let a), .tag(let b)): a.lexicographicallyPrecedes(b)
        default: false
        }
    }
}

extension IndexPosition.Key {
    fileprivate var value: SQLValue {
        switch self {
        case .number(let number): .integer(number)
        case .tag(let tag): .blob(tag)
        }
    }
}

extension IndexedTable {
    var name: String {
        switch self {
        case .directory: "directory"
        case .item: "item"
        case .past: "past"
        case .itemKey: "item_key"
        }
    }
}
