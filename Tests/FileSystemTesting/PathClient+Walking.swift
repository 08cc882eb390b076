import FileSystemCore
import SystemPackage

extension PathClient {
    /// Looks up `name`. The caller must forget the returned inode.
    func lookup(_ parent: NodeID, _ name: EntryName) throws(Errno) -> Entry? {
        let result = try run { request throws(Errno) -> LookupResult in
            try fileSystem.lookup(&request, parent: parent, name: name)
        }
        guard case .found(let entry) = result else { return nil }
        return entry
    }

    /// Looks up `name` like ``lookup(_:_:)``, but returns nil for ENOENT, as open with O_CREAT does.
    func find(_ parent: NodeID, _ name: EntryName) throws(Errno) -> Entry? {
        do throws(Errno) {
            return try lookup(parent, name)
        } catch {
            if error == .noSuchFileOrDirectory { return nil }
            throw error
        }
    }

    static func components(_ path: String) throws(Errno) -> [EntryName] {
        var names: [EntryName] = []
        for part in path.split(separator: "/") {
            guard part.utf8.count <= EntryName.maximumLength else { throw .fileNameTooLong }
            guard let name = EntryName(String(part)) else { throw .invalidArgument }
            names.append(name)
        }
        return names
    }

    /// Calls `body` with the node at `path`, whose lookup count stays positive during the call.
    func with<Result>(
        _ path: String, _ body: (NodeID, Attributes?) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        try walk(Self.components(path)[...], from: .root, nil, body)
    }

    /// Calls `body` with the parent and the last name of `path`.
    func withParent<Result>(
        _ path: String, _ body: (NodeID, EntryName) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        let names = try Self.components(path)
        guard let last = names.last else { throw .resourceBusy }
        return try walk(names.dropLast(), from: .root, nil) { parent, attributes throws(Errno) in
            if let attributes, attributes.type != .directory { throw .notDirectory }
            return try body(parent, last)
        }
    }

    private func walk<Result>(
        _ names: ArraySlice<EntryName>, from node: NodeID, _ attributes: Attributes?,
        _ body: (NodeID, Attributes?) throws(Errno) -> Result
    ) throws(Errno) -> Result {
        guard let name = names.first else { return try body(node, attributes) }
        if let attributes, attributes.type != .directory { throw .notDirectory }
        guard let entry = try lookup(node, name) else { throw .noSuchFileOrDirectory }
        defer { fileSystem.forget(entry.node, count: 1) }
        return try walk(names.dropFirst(), from: entry.node, entry.attributes, body)
    }
}
