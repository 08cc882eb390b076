import FileSystemCore
import FileSystemTesting
import SystemPackage

extension MemoryFileSystem {
    /// `user.notify` queues the notifications of the script; `user.rename` renames the file, as an attribute of a
    /// keychain's item can.
    func setxattr(
        _ request: inout Request, node: NodeID, name: [UInt8], value: RawSpan, flags: XattrFlags
    ) throws(Errno) {
        script.withLock { $0.onXattr }?()
        let bytes = value.withUnsafeBytes { Array($0) }
        if name == Array("user.notify".utf8) { request.notificationsBeforeReply = script.withLock { $0.notifications } }
        if name == Array("user.rename".utf8) { return try rename(&request, node, to: bytes) }
        try with(node) { node throws(Errno) in
            if flags.contains(.create), node.xattrs[name] != nil { throw .fileExists }
            if flags.contains(.replace), node.xattrs[name] == nil { throw Errno(rawValue: 61) }
            node.xattrs[name] = bytes
        }
    }

    private func rename(_ request: inout Request, _ node: NodeID, to bytes: [UInt8]) throws(Errno) {
        guard let new = EntryName(bytes) else { throw .invalidArgument }
        let old = try state.withLock { state throws(Errno) in
            guard let parent = state.nodes[node]?.parent,
                let old = state.nodes[parent]?.names.first(where: { $0.value == node })?.key
            else { throw .noSuchFileOrDirectory }
            guard state.nodes[parent]?.names[new] == nil else { throw .fileExists }
            try Self.drop(old, of: parent, in: &state)
            state.nodes[parent]?.names[new] = node
            state.nodes[parent]?.order.append(new)
            return EntryReference(parent: parent, name: old)
        }
        request.notificationsBeforeReply = [.entry(old), .entry(EntryReference(parent: old.parent, name: new))]
    }

    func getxattr(_ request: inout Request, node: NodeID, name: [UInt8]) throws(Errno) -> [UInt8] {
        script.withLock { $0.onXattr }?()
        return try with(node) { node throws(Errno) in
            guard let value = node.xattrs[name] else { throw Errno(rawValue: 61) }
            return value
        }
    }

    func listxattr(_ request: inout Request, node: NodeID) throws(Errno) -> [[UInt8]] {
        try with(node) { $0.xattrs.keys.sorted { $0.lexicographicallyPrecedes($1) } }
    }

    func removexattr(_ request: inout Request, node: NodeID, name: [UInt8]) throws(Errno) {
        try with(node) { node throws(Errno) in
            guard node.xattrs.removeValue(forKey: name) != nil else { throw Errno(rawValue: 61) }
        }
    }
}
