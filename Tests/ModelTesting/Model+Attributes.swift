import FileSystemCore
import SystemPackage

/// X1 to X4.
extension Model {
    static let accessible = "user.kSecAttrAccessible"
    private static let sizeLimit = 65_536

    func attributes(_ place: Place) throws(Errno) -> Expectation {
        guard let file = files[try file(place)] else { throw .noSuchFileOrDirectory }
        let item = shownItem(file)
        var listed = item.attributes
        let defaultClass = directoryFacts[try directory(place.directory)]?.defaultClass
        if item.itemClass != .whenUnlocked || defaultClass != .whenUnlocked {
            listed[Self.accessible] = item.itemClass.rawValue
        }
        return .attributes(listed: listed, reference: item.reference, created: item.created)
    }

    mutating func set(_ name: String, to value: String, of place: Place, _ flags: XattrFlags) throws(Errno) {
        let id = try file(place)
        guard let item = files[id].map(shownItem) else { return }
        guard name.hasPrefix("user.") else { throw .operationNotSupported }
        try checkWritable()
        try checkSpace()
        let directory = ServicePath(place.directory)
        if let moved = directory.setting(name, to: value) {
            if flags.contains(.create) { throw .fileExists }
            return moved == directory ? () : try relocate(id, toService: moved.path, place.name)
        }
        switch name {
        case Self.accessible:
            if flags.contains(.create) { throw .fileExists }
            guard let itemClass = ItemClass(rawValue: value) else { throw .invalidArgument }
            try setClass(itemClass, of: id)
        case "user.kSecAttrAccount":
            if flags.contains(.create) { throw .fileExists }
            if value != place.name { try relocate(id, to: (try self.directory(place.directory), value)) }
        case "user.kSecAttrModificationDate": throw .notPermitted
        case _ where Self.isForeign(name): throw .operationNotSupported
        default:
            let isSet = item.attributes[name] != nil
            if flags.contains(.create), isSet { throw .fileExists }
            if flags.contains(.replace), !isSet { throw .noAttribute }
            var attributes = item.attributes
            attributes[name] = value
            let size = attributes.reduce(0) { $0 + $1.key.utf8.count + 1 + $1.value.utf8.count }
            guard size <= Self.sizeLimit else { throw .listTooLong }
            try checkCommits(id)
            keepAdopted(id)
            files[id]?.item.attributes = attributes
        }
    }

    /// An attribute that the class does not have.
    private static func isForeign(_ name: String) -> Bool {
        ["user.kSecAttrKeyType", "user.kSecAttrService"].contains(name)
    }

    /// L3; ENOKEY for a class that cannot be sealed now.
    private mutating func setClass(_ itemClass: ItemClass, of id: FileID) throws(Errno) {
        guard let file = files[id], shownItem(file).itemClass != itemClass else { return }
        guard !isLocked || itemClass.canBeAddedWhileLocked else { throw .noKey }
        try checkCommits(id)
        keepAdopted(id)
        files[id]?.item.itemClass = itemClass
    }

    private mutating func relocate(_ id: FileID, toService path: String, _ name: String) throws(Errno) {
        let directory = directories[path]
        if let directory { return try relocate(id, to: (directory, name)) }
        let made = symbol()
        try relocate(id, to: (made, name))
        addDirectory(path, made)
    }

    mutating func remove(_ name: String, of place: Place) throws(Errno) {
        let id = try file(place)
        guard name.hasPrefix("user.") else { throw .operationNotSupported }
        try checkWritable()
        guard let item = files[id].map(shownItem) else { return }
        let defaultClass = directoryFacts[try directory(place.directory)]?.defaultClass ?? .whenUnlocked
        let directory = ServicePath(place.directory)
        switch name {
        case Self.accessible:
            guard item.itemClass != .whenUnlocked || defaultClass != .whenUnlocked else { throw .noAttribute }
            // Also where it is that already: the file is marked as changed.
            try item.itemClass == defaultClass ? checkCommits(id) : setClass(defaultClass, of: id)
        case "user.kSecAttrAccount": throw .notPermitted
        case _ where directory.setting(name, to: "") != nil: throw .notPermitted
        case "user.kSecAttrModificationDate": throw .noAttribute
        default:
            guard item.attributes[name] != nil else { throw .noAttribute }
            try checkCommits(id)
            keepAdopted(id)
            files[id]?.item.attributes[name] = nil
        }
    }
}
