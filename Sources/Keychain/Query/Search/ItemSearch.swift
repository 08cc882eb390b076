/// Finds the items that match a query, in the order of their creation.
///
/// Reads page by page without a transaction between pages. Opens only metadata, and only of rows that may match. A
/// locked item that may match ends the search: `interactionNotAllowed`.
struct ItemSearch: Sendable {
    let keychain: KeychainStore
    let query: ItemQuery
    private let hints: PersistentReferenceCache
    private let trace: [UInt8]?
    private var hasBegun = false
    /// The rows to examine; nil before the start and after the end.
    private var rows: (any RowSource)?
    /// Whether the rows were found by a name.
    private var areNamed = false
    /// Whether an item was found by its complete name, so that the search cannot have missed other items.
    private var isAnswered = false
    private var containers: [RowID: ContainerKey] = [:]

    init(_ query: ItemQuery, in keychain: KeychainStore, hints: PersistentReferenceCache) {
        self.query = query
        trace = query.trace
        self.keychain = keychain
        self.hints = hints
    }

    /// Returns the next row; nil at the end.
    mutating func next() throws(KeychainFault) -> SearchRow? {
        var unlimited = Int.max
        return try next(lookingAt: &unlimited)
    }

    /// Whether all rows have been examined.
    var hasEnded: Bool { hasBegun && rows == nil }

    /// Returns the next row; nil at the end, or when `budget` rows have been examined.
    mutating func next(lookingAt budget: inout Int) throws(KeychainFault) -> SearchRow? {
        if !hasBegun {
            hasBegun = true
            if let match = try matchOfHint() { return .match(match) }
            try begin()
        }
        while budget > 0 {
            guard let row = try rows?.next() else {
                rows = nil
                if !isAnswered { try keychain.checkAbsence() }
                return nil
            }
            budget -= 1
            if let found = try match(at: row, isNamed: areNamed) { return found }
        }
        return nil
    }

    private mutating func begin() throws(KeychainFault) {
        let store = keychain.store
        switch try SearchSpace(query, in: keychain) {
        case .named(let found):
            rows = FetchedRows(rows: found[...])
            areNamed = true
            isAnswered = !found.isEmpty
        case .rows(let ids):
            rows = RowList(store: store, ids: ids[...])
            areNamed = true
        case .listed(let ids): rows = RowList(store: store, ids: ids[...])
        case .directories(let ids) where ids.count <= SearchSpace.mergedLimit:
            rows = try MergedRows(store, directories: ids)
        case .directories(let ids): rows = FilteredRows(store, directories: ids)
        case .containers(let ids): rows = FilteredRows(store, containers: ids)
        }
    }

    private mutating func match(at row: SourceRow, isNamed: Bool) throws(KeychainFault) -> SearchRow? {
        let record: ItemRecord
        switch row {
        case .record(let found): record = found
        case .damaged(let id): return damaged(id, isNamed)
        case .elsewhere: return nil
        }
        guard query.matches(record.protection) else { return nil }
        if isForeign(record) {
            return isNamed ? .foreign(row.id) : nil
        }
        do throws(KeychainFault) {
            guard let item = try open(record) else { return nil }
            return try match(item).map { .match($0) }
        } catch .decode {
            return try matchAgain(record, isNamed: isNamed)
        }
    }

    /// Examines the present row after `record`, which was read earlier, cannot be opened: the end of a rekey may have removed
    /// its keys in the meantime.
    private mutating func matchAgain(_ record: ItemRecord, isNamed: Bool) throws(KeychainFault) -> SearchRow? {
        var rows = RowList(store: keychain.store, ids: [record.id])
        guard let present = try rows.next() else { return nil }
        return present == .record(record) ? damaged(record.id, isNamed) : try match(at: present, isNamed: isNamed)
    }

    private func isForeign(_ record: ItemRecord) -> Bool {
        record.protection.isThisDeviceOnly
            && keychain.keys.isForeign(record.protection, generation: record.generation)
    }

    /// Opens an item; nil if its metadata show that it does not match.
    private func open(_ record: ItemRecord) throws(KeychainFault) -> Item? {
        guard let trace else { return try keychain.itemEnvelope.open(record) }
        return try keychain.itemEnvelope.open(record, containing: trace)
    }

    /// Returns the item with the persistent reference if it is at its cached position. References are unique.
    private mutating func matchOfHint() throws(KeychainFault) -> ItemMatch? {
        guard let reference = query.reference, let row = hints.row(of: reference) else { return nil }
        var rows = RowList(store: keychain.store, ids: [row])
        guard let row = try rows.next(), case .match(let match)? = try match(at: row, isNamed: false) else {
            return nil
        }
        return match
    }

    /// Returns a damaged row. Whether it matches can be determined only if the query has no term about the item itself.
    private func damaged(_ row: RowID, _ isNamed: Bool) -> SearchRow? {
        isNamed || !query.hasItemTerm ? .damaged(row) : nil
    }

    /// Returns the match of an item; nil if the query does not match it.
    mutating func match(_ item: Item) throws(KeychainFault) -> ItemMatch? {
        guard query.matches(item), let directory = try keychain.directory(id: item.directory) else { return nil }
        return query.match(item, in: directory, try container(directory.parent))
    }

    private mutating func container(_ row: RowID) throws(KeychainFault) -> ContainerKey? {
        if let known = containers[row] { return known }
        let found = try keychain.store.read { [keychain] (reader) throws(KeychainFault) in
            try keychain.containerKey(row, readBy: reader)
        }
        containers[row] = found
        return found
    }
}
