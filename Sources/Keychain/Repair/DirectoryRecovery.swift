/// The directories of a repaired keychain: authentic ones, and lost ones as far as their contents prove their
/// keys.
///
/// Nothing is guessed. The key of a lost container is the one with which the tag of a service in it was computed; the
/// name of a lost group is that of the containers in it. A service with a lost name is named by its row number, in a
/// separate access group. Rows keep their numbers, so that the items in them stay unchanged.
struct DirectoryRecovery {
    /// The access group of directories whose position is unknown.
    static let lostAndFound = "lost+found"

    private(set) var directories: [RowID: Directory]
    /// The lost directories that were restored, with the key that their contents prove.
    private(set) var restored: [RowID] = []
    /// The directories that are in ``lostAndFound`` now.
    private(set) var displaced: [RowID] = []
    /// The lowest number that no row has had, as far as the rows show.
    private(set) var nextRow: RowID
    private let inspection: RowInspection
    private let keys: KeyRing
    private let file: PosixAttributes
    private let now: KeychainDate
    private var containers: [ContainerKey: RowID] = [:]
    private var groups: [[UInt8]: RowID] = [:]
    /// The lookup tags of the services.
    private var tags: Set<[UInt8]> = []

    init(_ inspection: RowInspection, keys: KeyRing, file: PosixAttributes, now: KeychainDate) throws(KeychainFault) {
        (self.inspection, self.keys, self.file, self.now) = (inspection, keys, file, now)
        directories = inspection.directories.mapValues(\.directory)
        let named = directories.values.map(\.parent) + inspection.population.keys
        nextRow = max(inspection.nextRow, named.filter { $0 < .lastUsual }.max()?.next ?? .first)
        for id in directories.keys.sorted() { try enter(id) }
        try restoreGroups()
        try restoreContainers()
        try nameLostServices()
    }

    /// Returns the container of a service; nil for another directory.
    func container(of directory: Directory) -> ContainerKey? {
        if case .container(let key) = directories[directory.parent]?.key { key } else { nil }
    }

    // MARK: Groups and containers

    private mutating func restoreGroups() throws(KeychainFault) {
        for id in directories.keys.sorted() {
            guard let container = directories[id], case .container(let key) = container.key,
                key.accessGroup != ContainerKey.defaultAccessGroup, groups[key.accessGroup] != container.parent
            else { continue }
            if groups[key.accessGroup] == nil { try restore(container.parent, .group(key.accessGroup), in: .none) }
            guard let group = groups[key.accessGroup] else { throw .decode }
            move(id, into: group)
        }
    }

    private mutating func restoreContainers() throws(KeychainFault) {
        for id in directories.keys.sorted() {
            guard let service = directories[id], case .service(let key) = service.key, container(of: service) == nil
            else { continue }
            guard let proven = try provenContainer(of: id, key) else {
                try displace(id, key)
                continue
            }
            if containers[proven] == nil { try restore(service.parent, .container(proven), in: group(of: proven)) }
            guard let container = containers[proven] else { throw .decode }
            move(id, into: container)
        }
    }

    /// Returns the container with which the tag of a service was computed.
    private func provenContainer(of id: RowID, _ service: ServiceKey) throws(KeychainFault) -> ContainerKey? {
        guard let record = inspection.directories[id]?.record else { return nil }
        for group in [ContainerKey.defaultAccessGroup] + groups.keys {
            for isSynchronizable in [false, true] {
                let key = ContainerKey(
                    itemClass: service.itemClass, accessGroup: group, isSynchronizable: isSynchronizable)
                if try keys.directoryTag(service, in: key) == record.tag { return key }
            }
        }
        return nil
    }

    private func group(of key: ContainerKey) -> RowID { groups[key.accessGroup] ?? .none }

    // MARK: Services

    /// Names lost services of which only the row numbers in their items remain.
    private mutating func nameLostServices() throws(KeychainFault) {
        for id in inspection.population.keys.sorted() where directories[id] == nil {
            let key = ServiceKey.generic(service: .string("directory \(id.rawValue)"))
            directories[id] = made(id, .service(key), in: .none)
            try displace(id, key)
        }
    }

    /// Moves a service to a position where its name is free.
    private mutating func displace(_ id: RowID, _ service: ServiceKey) throws(KeychainFault) {
        for number in 1... {
            let name = number == 1 ? Self.lostAndFound : "\(Self.lostAndFound) \(number)"
            let key = ContainerKey(itemClass: service.itemClass, accessGroup: Array(name.utf8))
            guard try !tags.contains(keys.directoryTag(service, in: key)) else { continue }
            if groups[key.accessGroup] == nil { try make(newID(), .group(key.accessGroup), in: .none) }
            if containers[key] == nil { try make(newID(), .container(key), in: group(of: key)) }
            guard let container = containers[key] else { throw .decode }
            move(id, into: container)
            try enter(id)
            displaced.append(id)
            return
        }
    }

    // MARK: Rows

    /// Recreates a directory, with the number of the lost one unless another row has it.
    private mutating func restore(
        _ lost: RowID, _ key: Directory.Key, in parent: RowID
    ) throws(KeychainFault) {
        let id = directories[lost] == nil && RowInspection.ids.contains(lost) ? lost : newID()
        try make(id, key, in: parent)
        restored.append(id)
    }

    private mutating func make(_ id: RowID, _ key: Directory.Key, in parent: RowID) throws(KeychainFault) {
        directories[id] = made(id, key, in: parent)
        try enter(id)
    }

    /// Records a directory under its key.
    private mutating func enter(_ id: RowID) throws(KeychainFault) {
        guard let directory = directories[id] else { return }
        switch directory.key {
        case .container(let key): containers[key] = id
        case .group(let name): groups[name] = id
        case .service(let service):
            guard let container = container(of: directory) else { return }
            tags.insert(try keys.directoryTag(service, in: container))
        }
    }

    private func made(_ id: RowID, _ key: Directory.Key, in parent: RowID) -> Directory {
        var file = file
        file.inode = UInt64(clamping: id.rawValue)
        return Directory(id: id, parent: parent, key: key, creationDate: now, file: file)
    }

    private mutating func move(_ id: RowID, into parent: RowID) { directories[id]?.parent = parent }

    private mutating func newID() -> RowID {
        defer { nextRow = nextRow.next }
        return nextRow
    }
}
