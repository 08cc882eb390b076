/// Rows of items in the order of their creation, read page by page without a transaction between pages.
protocol RowSource: Sendable {
    /// Returns the next row; nil at the end.
    mutating func next() throws(KeychainFault) -> SourceRow?
}

/// A row of a source.
enum SourceRow: Hashable, Sendable {
    case record(ItemRecord)
    /// A row whose columns cannot be decoded.
    case damaged(RowID)
    /// A row outside of the search space, which took time to skip.
    case elsewhere(RowID)

    var id: RowID {
        switch self {
        case .record(let record): record.id
        case .damaged(let id), .elsewhere(let id): id
        }
    }
}

/// The sizes of the pages that a source reads. The first page is short, for callers that need one row.
struct PageSize {
    private(set) var count = 8
    private static let longest = 128

    mutating func grow() { count = min(2 * count, Self.longest) }
}

/// Rows that have been read already.
struct FetchedRows: RowSource {
    var rows: ArraySlice<SourceRow>

    mutating func next() -> SourceRow? { rows.popFirst() }
}

/// A given list of row numbers.
struct RowList: RowSource {
    let store: any RecordStore
    /// The row numbers in ascending order.
    var ids: ArraySlice<RowID>

    mutating func next() throws(KeychainFault) -> SourceRow? {
        while let id = ids.popFirst() {
            do throws(KeychainFault) {
                let record = try store.read { (reader) throws(KeychainFault) in try reader.item(id: id) }
                if let record { return .record(record) }
            } catch .decode {
                return .damaged(id)
            }
        }
        return nil
    }
}

/// The rows of one directory, or of all.
struct PagedRows: RowSource {
    let store: any RecordStore
    /// The directory; nil for all.
    let directory: RowID?
    private var page: ArraySlice<SourceRow> = []
    private var size = PageSize()
    private var last: RowID? = RowID.none

    init(_ store: any RecordStore, directory: RowID?) {
        self.store = store
        self.directory = directory
    }

    mutating func next() throws(KeychainFault) -> SourceRow? {
        if page.isEmpty, let after = last { try turn(after) }
        return page.popFirst()
    }

    private mutating func turn(_ after: RowID) throws(KeychainFault) {
        let rows = try rows(after: after)
        page = rows[...]
        last = rows.last?.id
        size.grow()
    }

    private func rows(after: RowID) throws(KeychainFault) -> [SourceRow] {
        try store.read { (reader) throws(KeychainFault) in
            do throws(KeychainFault) {
                return try records(reader, after).map { .record($0) }
            } catch .decode {
                // One row of the page cannot be decoded; the others are returned (S4).
                var found: [SourceRow] = []
                for id in try ids(reader, after) {
                    if let row = try Self.row(id, reader) { found.append(row) }
                }
                return found
            }
        }
    }

    private func records(_ reader: any RecordReader, _ after: RowID) throws(KeychainFault) -> [ItemRecord] {
        guard let directory else { return try reader.items(after: after, limit: size.count) }
        return try reader.items(directory: directory, after: after, limit: size.count)
    }

    private func ids(_ reader: any RecordReader, _ after: RowID) throws(KeychainFault) -> [RowID] {
        guard let directory else { return try reader.itemIDs(after: after, limit: size.count) }
        return try reader.itemIDs(directory: directory, after: after, limit: size.count)
    }

    private static func row(_ id: RowID, _ reader: any RecordReader) throws(KeychainFault) -> SourceRow? {
        do throws(KeychainFault) {
            return try reader.item(id: id).map { .record($0) }
        } catch .decode {
            return .damaged(id)
        }
    }
}

/// The rows of several directories in one order.
struct MergedRows: RowSource {
    private var sources: [(rows: PagedRows, head: SourceRow)] = []

    init(_ store: any RecordStore, directories: [RowID]) throws(KeychainFault) {
        for directory in directories {
            var rows = PagedRows(store, directory: directory)
            if let head = try rows.next() { sources.append((rows, head)) }
        }
    }

    mutating func next() throws(KeychainFault) -> SourceRow? {
        guard let index = sources.indices.min(by: { sources[$0].head.id < sources[$1].head.id }) else { return nil }
        let found = sources[index].head
        if let head = try sources[index].rows.next() {
            sources[index].head = head
        } else {
            sources.remove(at: index)
        }
        return found
    }
}

/// The rows in given directories, or in directories of given containers.
struct FilteredRows: RowSource {
    private let store: any RecordStore
    private var rows: PagedRows
    private let isWanted: @Sendable (RowID) throws(KeychainFault) -> Bool
    /// The directories that have been checked, and whether they belong to the search space.
    private var known: [RowID: Bool] = [:]
    private static let limit = 4096

    init(_ store: any RecordStore, directories: [RowID]) {
        let wanted = Set(directories)
        self.init(store) { wanted.contains($0) }
    }

    init(_ store: any RecordStore, containers: Set<RowID>) {
        self.init(store) { (directory) throws(KeychainFault) in
            do throws(KeychainFault) {
                let head = try store.read { (reader) throws(KeychainFault) in try reader.directory(id: directory)
                }
                return head.map { containers.contains($0.parent) } ?? false
            } catch .decode {
                return false
            }
        }
    }

    private init(_ store: any RecordStore, _ isWanted: @escaping @Sendable (RowID) throws(KeychainFault) -> Bool) {
        self.store = store
        self.isWanted = isWanted
        rows = PagedRows(store, directory: nil)
    }

    mutating func next() throws(KeychainFault) -> SourceRow? {
        guard let row = try rows.next() else { return nil }
        // The directory of a damaged row is unknown.
        guard case .record(let record) = row, try isWanted(in: record.directory) else { return .elsewhere(row.id) }
        return row
    }

    private mutating func isWanted(in directory: RowID) throws(KeychainFault) -> Bool {
        if let known = known[directory] { return known }
        let found = try isWanted(directory)
        if known.count >= Self.limit { known.removeAll(keepingCapacity: true) }
        known[directory] = found
        return found
    }
}
