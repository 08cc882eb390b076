import FileSystemCore
import FileSystemTesting
import SystemPackage

extension MemoryFileSystem {
    func lookup(_ request: inout Request, parent: NodeID, name: EntryName) throws(Errno) -> LookupResult {
        note("lookup \(name.text)")
        guard let id = try with(parent, { $0.names[name] }) else {
            return .absent(timeout: script.withLock { $0.negativeTimeout })
        }
        return .found(try handOut(id))
    }

    func forget(_ node: NodeID, count: UInt64) {
        state.withLock { state in
            guard let lookups = state.nodes[node]?.lookups else { return }
            state.nodes[node]?.lookups = lookups - min(count, lookups)
            if count > lookups { state.calls.append("forgot too much") }
        }
    }

    func mknod(
        _ request: inout Request, parent: NodeID, name: EntryName, type: FileSystemCore.FileType, permissions: UInt32
    ) throws(Errno) -> Entry {
        guard type == .regular else { throw .notPermitted }
        return try handOut(make(parent, name, type, permissions))
    }

    func mkdir(
        _ request: inout Request, parent: NodeID, name: EntryName, permissions: UInt32
    ) throws(Errno) -> Entry {
        script.withLock { $0.onMakeDirectory }?()
        return try handOut(make(parent, name, .directory, permissions))
    }

    func unlink(_ request: inout Request, parent: NodeID, name: EntryName) throws(Errno) {
        try state.withLock { state throws(Errno) in try Self.drop(name, of: parent, in: &state) }
    }

    func rmdir(_ request: inout Request, parent: NodeID, name: EntryName) throws(Errno) {
        try state.withLock { state throws(Errno) in
            guard let id = state.nodes[parent]?.names[name] else { throw .noSuchFileOrDirectory }
            guard state.nodes[id]?.names.isEmpty ?? true else { throw .directoryNotEmpty }
            try Self.drop(name, of: parent, in: &state)
        }
    }

    func rename(
        _ request: inout Request, parent: NodeID, name: EntryName, newParent: NodeID, newName: EntryName,
        flags: RenameFlags
    ) throws(Errno) {
        note("rename \(flags.rawValue)")
        try state.withLock { state throws(Errno) in
            guard let id = state.nodes[parent]?.names[name] else { throw .noSuchFileOrDirectory }
            let target = state.nodes[newParent]?.names[newName]
            if flags == .exchange {
                guard let target else { throw .noSuchFileOrDirectory }
                state.nodes[parent]?.names[name] = target
                state.nodes[newParent]?.names[newName] = id
                return
            }
            if target != nil {
                guard flags != .noReplace else { throw .fileExists }
                try Self.drop(newName, of: newParent, in: &state)
            }
            try Self.drop(name, of: parent, in: &state)
            state.nodes[id]?.links += 1
            state.nodes[newParent]?.names[newName] = id
            state.nodes[newParent]?.order.append(newName)
        }
    }

    func opendir(_ request: inout Request, node: NodeID) throws(Errno) -> HandleID {
        try openHandle(node)
    }

    func readdir(
        _ request: inout Request, node: NodeID, handle: HandleID, offset: UInt64, into sink: inout some DirectorySink
    ) throws(Errno) {
        note(sink.wantsEntries ? "readdirplus" : "readdir")
        let failure = script.withLock { $0.listError }
        if offset == 0, let dot = EntryName(".") {
            guard sink.add(dot, inode: InodeNumber(rawValue: 1), type: .directory, offset: 1) else { return }
        }
        let listing = try with(node) { $0 }
        for (index, name) in listing.order.enumerated().dropFirst(Int(clamping: max(offset, 1)) - 1) {
            if let failure, UInt64(index) >= failure.after { throw failure.error }
            guard let name, let id = listing.names[name] else { continue }
            let child = try with(id) { $0 }
            let isAdded =
                sink.wantsEntries
                ? sink.add(name, entry: entry(id, child), offset: UInt64(index) + 2)
                : sink.add(
                    name, inode: child.attributes.inode, type: child.attributes.type, offset: UInt64(index) + 2)
            guard isAdded else { return }
            if sink.wantsEntries { _ = try handOut(id) }
        }
    }

    func releasedir(_ request: inout Request, node: NodeID, handle: HandleID) { closeHandle(handle) }

    func fsyncdir(
        _ request: inout Request, node: NodeID, handle: HandleID, dataOnly: Bool
    ) throws(Errno) { note("fsyncdir \(dataOnly)") }
}
