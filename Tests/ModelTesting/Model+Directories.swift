import FileSystemCore
import SystemPackage

/// T4, L1: service directories.
extension Model {
    mutating func directoryStep(_ action: Action) throws(Errno) -> Expectation {
        switch action {
        case .makeDirectory(let path):
            guard try existingDirectory(path) == nil else { throw .fileExists }
            try checkSpace()
            try checkCommits()
            addDirectory(path, symbol())
        case .makeGroup(let name):
            guard try !hasGroup(name) else { throw .fileExists }
            try checkSpace()
            try checkCommits()
            containers.insert("access-groups/\(name)")
        case .removeDirectory(let path):
            let id = try directory(path)
            try checkWritable()
            try checkEmpty(id)
            try checkCommits()
            removeDirectory(path)
        case .renameDirectory(let from, let to, let flags):
            try renameDirectory(from, to, RenameFlags(rawValue: flags))
        case .list(let path): return try list(path)
        case .statDirectory(let path):
            let inode = directoryFacts[try directory(path)]?.inode ?? 0
            return .status(
                ExpectedStatus(size: 0, permissions: 0o700, links: 2, inode: inode, modified: nil, history: nil))
        case .setDefault(let path, let value):
            guard let itemClass = ItemClass(rawValue: value) else { throw .invalidArgument }
            let id = try directory(path)
            try checkWritable()
            guard directoryFacts[id]?.defaultClass != itemClass else { break }
            guard !isLocked else { throw .noKey }
            try checkCommits()
            directoryFacts[id]?.defaultClass = itemClass
        default: break
        }
        return .exactly(.done)
    }

    mutating func addDirectory(_ path: String, _ id: DirectoryID) {
        directories[path] = id
        directoryFacts[id] = Directory(inode: symbol())
        let path = ServicePath(path)
        containers.formUnion([path.container, path.groupFolder].compactMap(\.self))
    }

    /// Before the first unlock it answers while it holds an Always item.
    private func hasGroup(_ name: String) throws(Errno) -> Bool {
        let path = "access-groups/\(name)"
        guard state != .beforeFirstUnlock || holdsAlways(path) else { throw .noKey }
        return containers.contains(path)
    }

    private func entries(_ id: DirectoryID) -> [File] { names[id, default: [:]].values.compactMap { files[$0] } }

    /// L1: ENOKEY for a directory that holds an item which is not available.
    private func checkAvailable(_ id: DirectoryID) throws(Errno) {
        guard entries(id).allSatisfy(answersByName) else { throw .noKey }
    }

    private func checkEmpty(_ id: DirectoryID) throws(Errno) {
        try checkAvailable(id)
        guard entries(id).isEmpty else { throw .directoryNotEmpty }
    }

    private mutating func removeDirectory(_ path: String) {
        guard let id = directories.removeValue(forKey: path) else { return }
        directoryFacts[id] = nil
        names[id] = nil
    }

    private mutating func renameDirectory(_ from: String, _ to: String, _ flags: RenameFlags) throws(Errno) {
        if flags.contains([.noReplace, .exchange]) { throw .invalidArgument }
        let source = try directory(from)
        let target = try existingDirectory(to)
        if flags.contains(.noReplace), target != nil { throw .fileExists }
        if flags.contains(.exchange), target == nil { throw .noSuchFileOrDirectory }
        if source == target { return }
        guard ServicePath(from).itemClass == ServicePath(to).itemClass else { throw .crossDevice }
        try checkWritable()
        try checkAvailable(source)
        try checkDefault(source)
        if flags.contains(.exchange), let target {
            try checkAvailable(target)
            try checkDefault(target)
            try checkCommits()
            (directories[from], directories[to]) = (target, source)
            return
        }
        if let target {
            try checkEmpty(target)
            try checkCommits()
            removeDirectory(to)
        }
        try checkCommits()
        directories[from] = nil
        directories[to] = source
        containers.insert(ServicePath(to).container)
    }

    /// Checks the default class, which a name gets from the directory to which it is moved; while locked no default can
    /// be changed.
    private func checkDefault(_ id: DirectoryID) throws(Errno) {
        guard !isLocked || directoryFacts[id]?.defaultClass == .whenUnlocked else { throw .noKey }
    }

    // MARK: Listing

    /// A listing from which anything is left out gives what is available and then fails with ENOKEY.
    private func list(_ path: String) throws(Errno) -> Expectation {
        if ServicePath(path).service.isEmpty {
            return try listing(ofClass: path)
        }
        guard state != .beforeFirstUnlock || isVisible(path) else { return Self.listing([], of: 1) }
        let all = names[try directory(path), default: [:]]
        let shown = all.filter { files[$0.value].map(answersByName) ?? false }.keys.sorted()
        let hidden = all.values.filter { files[$0]?.contested != nil }
        return Self.listing(shown, of: all.count + hidden.count)
    }

    /// L1: a directory is shown while it holds an available item, or when unlocked.
    private func listing(ofClass folder: String) throws(Errno) -> Expectation {
        if let group = ServicePath(folder).groupFolder {
            guard isVisible(group) else { return Self.listing([], of: 1) }
            guard containers.contains(group) else { throw .noSuchFileOrDirectory }
        }
        let all = directories.filter { ServicePath($0.key).container == folder }
        // It is unknown whether a container that is not found exists.
        if state == .beforeFirstUnlock, !holdsAlways(folder) { return Self.listing([], of: isAnythingHidden ? 1 : 0) }
        let shown = all.filter { !isLocked || entries($0.value).contains(where: answersByName) }
        return Self.listing(shown.keys.map { String($0.dropFirst(folder.count + 1)) }.sorted(), of: all.count)
    }

    private var isAnythingHidden: Bool {
        (Array(directories.keys) + containers).contains { !holdsAlways($0) }
    }

    private static func listing(_ shown: [String], of count: Int) -> Expectation {
        .exactly(.names(shown, error: shown.count == count ? nil : Errno.noKey.rawValue))
    }
}
