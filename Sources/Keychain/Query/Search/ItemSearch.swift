/// Finds the items of a query, in the order in which they were made.
///
/// Reads page by page and holds no transaction between pages; opens metadata only, and only of rows that may match.
/// One that is locked and may match ends the whole search: `interactionNotAllowed`.
struct ItemSearch: Sendable {
    let keychain: KeychainStore
    let query: ItemQuery
    private let hints: PersistentReferenceCache
    private let trace: [UInt8]?
    private var hasBegun = false
    /// Nil before the beginning and after the end.
    private var rows: (any RowSource)?
    /// Whether the rows are of names that were looked up.
    private var areNamed = false
    /// Whether an item was found by its complete name: then the search cannot have missed other items.
    private var isAnswered = false
    private var containers: [RowID: ContainerKey] = [:]

    init(_ query: ItemQuery, in keychain: KeychainStore, hints: PersistentReferenceCache) {
        self.query = query
        trace = query.trace
        self.keychain = keychain
        self.hints = hints
    }

    /// The next row that is found; nil at the end.
    mutating func next() throws(KeychainFault) -> SearchRow? {
        var unlimited = Int.max
        return try next(lookingAt: &unlimited)
    }

    /// Whether there is nothing more to look at.
    var hasEnded: Bool { hasBegun && rows == nil }

    /// The same; nil also when it has looked at so many rows.
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
        guard query.admits(record.protection) else { return nil }
        if isForeign(record) {
            return isNamed ? .foreign(row.id) : nil
        }
        do throws(KeychainFault) {
            guard let item = try open(record) else { return nil }
            return try match(item).map { .match($0) }
        } catch .decode {
            return damaged(row.id, isNamed)
        }
    }

    private func isForeign(_ record: ItemRecord) -> Bool {
        record.protection.isThisDeviceOnly
            && keychain.keys.isForeign(record.protection, generation: record.generation)
    }

    /// Nil for an item of which the metadata alone tell that it does not match.
    private func open(_ record: ItemRecord) throws(KeychainFault) -> Item? {
        guard let trace else { return try keychain.itemEnvelope.open(record) }
        return try keychain.itemEnvelope.open(record, containing: trace)
    }

    /// The item of a persistent reference, if it is where it was last seen: references are unique.
    private mutating func matchOfHint() throws(KeychainFault) -> ItemMatch? {
        guard let reference = query.reference, let row = hints.row(of: reference) else { return nil }
        var rows = RowList(store: keychain.store, ids: [row])
        guard let row = try rows.next(), case .match(let match)? = try match(at: row, isNamed: false) else {
            return nil
        }
        return match
    }

    /// Whether a damaged item is meant can be told only where nothing of its own was asked for.
    private func damaged(_ row: RowID, _ isNamed: Bool) -> SearchRow? {
        isNamed || !query.hasItemTerm ? .damaged(row) : nil
    }

    /// Nil for an item that the query does not ask for.
    mutating func match(_ item: Item) throws(KeychainFault) -> ItemMatch? {
        guard query.admits(item), let directory = try keychain.directory(id: item.directory) else { return nil }
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
