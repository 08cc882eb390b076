import FileSystemCore
import SystemPackage

/// T4, L1: service directories.
extension Model {
    mutating func directoryStep(_ action: Action) throws(Errno) -> Expectation {
        switch action {
        case .makeDirectory(let path):
            guard directories[path] == nil else { throw .fileExists }
            let id = symbol()
            directories[path] = id
            directoryFacts[id] = Directory(inode: symbol())
        case .removeDirectory(let path):
            try checkEmpty(try directory(path))
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
            guard directoryFacts[id]?.defaultClass != itemClass else { break }
            guard !isLocked else { throw .noKey }
            directoryFacts[id]?.defaultClass = itemClass
        default: break
        }
        return .exactly(.done)
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
        let target = directories[to]
        if flags.contains(.noReplace), target != nil { throw .fileExists }
        if flags.contains(.exchange), target == nil { throw .noSuchFileOrDirectory }
        if source == target { return }
        guard Self.classFolder(from) == Self.classFolder(to) else { throw .crossDevice }
        try checkAvailable(source)
        try checkDefault(source)
        if flags.contains(.exchange), let target {
            try checkAvailable(target)
            try checkDefault(target)
            (directories[from], directories[to]) = (target, source)
            return
        }
        if let target {
            try checkEmpty(target)
            removeDirectory(to)
        }
        directories[from] = nil
        directories[to] = source
    }

    /// A name gets the default class of the directory that comes to it, and while locked no default is changed.
    private func checkDefault(_ id: DirectoryID) throws(Errno) {
        guard !isLocked || directoryFacts[id]?.defaultClass == .whenUnlocked else { throw .noKey }
    }

    // MARK: Listing

    /// A listing from which anything is left out gives what is available and then fails with ENOKEY.
    private func list(_ path: String) throws(Errno) -> Expectation {
        guard path.contains("/") else { return listing(ofClass: path) }
        let all = names[try directory(path), default: [:]]
        let shown = all.filter { files[$0.value].map(answersByName) ?? false }.keys.sorted()
        return Self.listing(shown, of: all.count)
    }

    /// L1: a directory is shown while it holds an available item, or when unlocked.
    private func listing(ofClass folder: String) -> Expectation {
        let all = directories.filter { Self.classFolder($0.key) == folder }
        let shown = all.filter { !isLocked || entries($0.value).contains(where: answersByName) }
        return Self.listing(shown.keys.map { String($0.dropFirst(folder.count + 1)) }.sorted(), of: all.count)
    }

    private static func listing(_ shown: [String], of count: Int) -> Expectation {
        .exactly(.names(shown, error: shown.count == count ? nil : Errno.noKey.rawValue))
    }
}
