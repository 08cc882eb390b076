/// The directories of a repaired keychain: the authentic ones, and rows in place of lost ones.
///
/// Nothing is guessed. A group or container is lost with its name, because the rows in it contain only its row number. Rows
/// keep their numbers, so that the rows in them stay unchanged: a lost group, a lost container and services with a lost name
/// get new names in separate access groups.
struct DirectoryRecovery {
    /// The access group of directories whose position is unknown.
    static let lostAndFound = "lost+found"

    /// The name of a directory in its parent, which only one row has.
    private struct Place: Hashable {
        let parent: RowID
        let name: DirectoryName
    }

    private(set) var directories: [RowID: Directory]
    /// The directories whose name or position is lost, and those in a lost group or container.
    private(set) var displaced: [RowID] = []
    /// The lowest number that no row has had, as far as the rows show.
    private(set) var nextRow: RowID
    private let inspection: RowInspection
    private let file: PosixAttributes
    private let now: KeychainDate
    private var places: [Place: RowID] = [:]

    init(_ inspection: RowInspection, file: PosixAttributes, now: KeychainDate) {
        (self.inspection, self.file, self.now) = (inspection, file, now)
        directories = inspection.directories.mapValues(\.directory)
        let named = directories.values.map(\.parent) + inspection.population.keys
        nextRow = max(inspection.nextRow, named.filter { $0 < .lastUsual }.max()?.next ?? .first)
        let intact = directories.keys.sorted()
        for id in intact { enter(id) }
        nameLostGroups(of: intact)
        nameLostContainers(of: intact)
        nameLostServices()
    }

    // MARK: Groups and containers

    /// Gives lost groups, of which containers remain, new names.
    private mutating func nameLostGroups(of rows: [RowID]) {
        var named: [RowID: RowID] = [:]
        for id in rows {
            guard let container = directories[id], container.key.isContainer, container.parent != .none else {
                continue
            }
            let lost = container.parent
            if named[lost] == nil {
                if case .group? = directories[lost]?.key { continue }
                named[lost] = make(unused(lost), .group(freeGroup()), in: .none)
            }
            directories[id]?.parent = named[lost] ?? lost
            enter(id)
            displaced.append(id)
        }
    }

    /// Gives lost containers, of which services remain, a position. Moves a service in a directory that is not a container of
    /// its class.
    private mutating func nameLostContainers(of rows: [RowID]) {
        var lost: Set<RowID> = []
        for id in rows {
            guard let service = directories[id], case .service(let key) = service.key else { continue }
            let scope = ContainerScope(key.itemClass)
            if directories[service.parent] == nil, RowInspection.ids.contains(service.parent) {
                if let scope = inspection.lostScopes[id] {
                    make(service.parent, .unsupported(scope), in: group(without: .unsupported(scope)))
                } else {
                    make(service.parent, .container(scope), in: group(without: .container(scope)))
                }
                lost.insert(service.parent)
            }
            if !permits(key, in: service.parent) {
                displace(id)
            } else if lost.contains(service.parent) {
                displaced.append(id)
            }
        }
    }

    /// Whether a directory can contain a service. Containers of classes that this program does not support can have folders.
    private func permits(_ key: ServiceKey, in container: RowID) -> Bool {
        switch directories[container]?.key {
        case .container(let scope): scope.itemClass == key.itemClass
        case .unsupported: key.itemClass == .genericPassword
        case .group, .service, nil: false
        }
    }

    /// Returns a group for lost directories in which the name is free.
    private mutating func group(without name: DirectoryName) -> RowID {
        var number = 1
        while places[Place(parent: lostAndFound(number), name: name)] != nil { number += 1 }
        return lostAndFound(number)
    }

    private mutating func lostAndFound(_ number: Int) -> RowID {
        let key = Directory.Key.group(Self.groupName(number))
        return places[Place(parent: .none, name: DirectoryName(key))] ?? make(newID(), key, in: .none)
    }

    private func freeGroup() -> [UInt8] {
        var number = 1
        while places[Place(parent: .none, name: DirectoryName(.group(Self.groupName(number))))] != nil { number += 1 }
        return Self.groupName(number)
    }

    private static func groupName(_ number: Int) -> [UInt8] {
        Array((number == 1 ? lostAndFound : "\(lostAndFound) \(number)").utf8)
    }

    // MARK: Services

    /// Names lost services and containers of certificates and keys, of which only the row numbers in their items remain.
    private mutating func nameLostServices() {
        for id in inspection.population.keys.sorted() where directories[id] == nil {
            if let scope = inspection.lostScopes[id] {
                make(id, .unsupported(scope), in: group(without: .unsupported(scope)))
                displaced.append(id)
                continue
            }
            let key = Directory.Key.service(.generic(service: .string("directory \(id.rawValue)")))
            directories[id] = made(id, key, in: .none)
            displace(id)
        }
    }

    /// Moves a service to a position where its name is free.
    private mutating func displace(_ id: RowID) {
        guard let directory = directories[id], case .service(let service) = directory.key else { return }
        let scope = Directory.Key.container(ContainerScope(service.itemClass))
        for number in 1... {
            let group = lostAndFound(number)
            let container =
                places[Place(parent: group, name: DirectoryName(scope))] ?? make(newID(), scope, in: group)
            guard places[Place(parent: container, name: DirectoryName(directory.key))] == nil else { continue }
            directories[id]?.parent = container
            enter(id)
            return displaced.append(id)
        }
    }

    // MARK: Rows

    @discardableResult
    private mutating func make(_ id: RowID, _ key: Directory.Key, in parent: RowID) -> RowID {
        directories[id] = made(id, key, in: parent)
        enter(id)
        return id
    }

    private mutating func enter(_ id: RowID) {
        guard let directory = directories[id] else { return }
        places[Place(parent: directory.parent, name: DirectoryName(directory.key))] = id
    }

    private func made(_ id: RowID, _ key: Directory.Key, in parent: RowID) -> Directory {
        var file = file
        file.inode = UInt64(clamping: id.rawValue)
        return Directory(id: id, parent: parent, key: key, creationDate: now, file: file)
    }

    /// Returns the number of a lost row, unless another row has it.
    private mutating func unused(_ lost: RowID) -> RowID {
        directories[lost] == nil && RowInspection.ids.contains(lost) ? lost : newID()
    }

    private mutating func newID() -> RowID {
        defer { nextRow = nextRow.next }
        return nextRow
    }
}
