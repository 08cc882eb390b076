/// The rows among which the matches of a query are. Contains only IDs: 8 bytes for each directory that a query does not
/// exclude.
enum SearchSpace: Hashable, Sendable {
    /// The rows with a complete primary key in ascending order, one for each container.
    case named([SourceRow])
    /// The rows with a name in several directories, in ascending order.
    case rows([RowID])
    /// The rows that may match, in ascending order.
    case listed([RowID])
    case directories([RowID])
    case containers(Set<RowID>)

    /// The maximum number of directories whose rows are merged. For more directories, all rows are filtered.
    static let mergedLimit = 64
    private static let listedLimit = 512

    /// Looks up the parts of the primary key that the query contains, and searches the directories if it contains only
    /// some of their attributes.
    init(_ query: ItemQuery, in keychain: KeychainStore) throws(KeychainFault) {
        let plan = QueryPlan(query)
        let containers = try Self.containers(of: query, in: keychain)
        guard plan.service != nil || plan.account != nil || query.hasServiceTerm else {
            self = try Self.all(in: try Self.rows(of: containers, keychain), keychain)
            return
        }
        var directories: [RowID] = []
        for container in containers {
            if let service = plan.service {
                let found = try Self.directory(of: service, in: container, keychain)
                if query.matches(service), let found { directories.append(found) }
            } else {
                try Self.addDirectories(of: query, in: container, keychain, to: &directories)
            }
        }
        guard let name = plan.account else {
            self = .directories(directories)
            return
        }
        var rows: [SourceRow] = []
        var ids: [RowID] = []
        for directory in directories {
            guard let row = try Self.row(named: name, in: directory, keychain) else { continue }
            if plan.service == nil { ids.append(row.id) } else { rows.append(row) }
        }
        self = plan.service == nil ? .rows(ids.sorted()) : .named(rows.sorted { $0.id < $1.id })
    }

    /// Returns the search space of containers. The rows of a small group are listed in one snapshot, so that items of
    /// other groups cost nothing, and an item that moves in the meantime is not missed.
    private static func all(in containers: Set<RowID>, _ keychain: KeychainStore) throws(KeychainFault) -> SearchSpace {
        let rows = try keychain.store.read { (reader) throws(KeychainFault) in try few(in: containers, reader) }
        return rows.map { .listed($0.sorted()) } ?? .containers(containers)
    }

    /// Returns nil if there are many directories or rows.
    private static func few(
        in containers: Set<RowID>, _ reader: any RecordReader
    ) throws(KeychainFault) -> [RowID]? {
        var directories: [RowID] = []
        for container in containers {
            directories += try reader.directoryIDs(parent: container, after: .none, limit: mergedLimit + 1)
            guard directories.count <= mergedLimit else { return nil }
        }
        var rows: [RowID] = []
        for directory in directories {
            rows += try reader.itemIDs(directory: directory, after: .none, limit: listedLimit + 1)
            guard rows.count <= listedLimit else { return nil }
        }
        return rows
    }

    private static func rows(
        of containers: [ContainerKey], _ keychain: KeychainStore
    ) throws(KeychainFault) -> Set<RowID> {
        var rows: Set<RowID> = []
        for key in containers {
            if let container = try keychain.container(key) { rows.insert(container.id) }
        }
        return rows
    }

    private static func containers(
        of query: ItemQuery, in keychain: KeychainStore
    ) throws(KeychainFault) -> [ContainerKey] {
        let groups: [[UInt8]]
        if let named = query.groups { groups = named } else { groups = try keychain.accessGroups() }
        return groups.flatMap { group in
            query.synchronizables.map {
                ContainerKey(itemClass: query.itemClass, accessGroup: group, isSynchronizable: $0)
            }
        }
    }

    /// A damaged directory only hides its own items (S4).
    private static func directory(
        of service: ServiceKey, in container: ContainerKey, _ keychain: KeychainStore
    ) throws(KeychainFault) -> RowID? {
        do throws(KeychainFault) {
            return try keychain.directory(named: CanonicalName(service: service), in: container)?.id
        } catch .decode {
            return nil
        }
    }

    private static func row(
        named name: CanonicalName, in directory: RowID, _ keychain: KeychainStore
    ) throws(KeychainFault) -> SourceRow? {
        do throws(KeychainFault) {
            return try keychain.record(named: name, in: directory).map { .record($0) }
        } catch .decode {
            return nil
        }
    }

    private static func addDirectories(
        of query: ItemQuery, in container: ContainerKey, _ keychain: KeychainStore, to directories: inout [RowID]
    ) throws(KeychainFault) {
        guard let container = try keychain.container(container) else { return }
        try keychain.forEachDirectory(in: container.id) { directory in
            if case .service(let service) = directory.key, query.matches(service) { directories.append(directory.id) }
        }
    }
}

extension KeychainStore {
    private static let directoryPageSize = 128

    /// Returns all access groups, including the default one.
    func accessGroups() throws(KeychainFault) -> [[UInt8]] {
        var groups = [ContainerKey.defaultAccessGroup]
        try forEachDirectory(in: .none) { directory in
            if case .group(let name) = directory.key { groups.append(name) }
        }
        return groups
    }

    /// Calls `body` with the directories of a parent except damaged ones, in the order of their rows.
    func forEachDirectory(in parent: RowID, _ body: (Directory) -> Void) throws(KeychainFault) {
        var after = RowID.none
        while true {
            let page = try directories(in: parent, after: after, limit: Self.directoryPageSize)
            for entry in page {
                switch entry {
                case .available(let directory):
                    body(directory)
                    after = directory.id
                case .damaged(let id): after = id
                case .unavailable, .foreign: throw .interactionNotAllowed
                }
            }
            guard page.count == Self.directoryPageSize else { return }
        }
    }
}
