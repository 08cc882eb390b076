import FileSystemCore
import SystemPackage

extension PathClient {
    public func mkdir(_ path: String, mode: UInt32) throws(Errno) {
        try make(path) { request, parent, name throws(Errno) in
            try fileSystem.mkdir(&request, parent: parent, name: name, permissions: mode & ~umask)
        }
    }

    public func mknod(_ path: String, _ type: FileSystemCore.FileType, mode: UInt32) throws(Errno) {
        try make(path) { request, parent, name throws(Errno) in
            try fileSystem.mknod(&request, parent: parent, name: name, type: type, permissions: mode & ~umask)
        }
    }

    public func symlink(_ target: String, at path: String) throws(Errno) {
        try make(path) { request, parent, name throws(Errno) in
            try fileSystem.symlink(&request, parent: parent, name: name, target: Array(target.utf8))
        }
    }

    public func link(_ existing: String, at path: String) throws(Errno) {
        try with(existing) { node, _ throws(Errno) in
            try make(path) { request, parent, name throws(Errno) in
                try fileSystem.link(&request, node: node, newParent: parent, newName: name)
            }
        }
    }

    /// Creates a name that must not exist, and forgets its inode.
    private func make(
        _ path: String, _ body: (inout Request, NodeID, EntryName) throws(Errno) -> Entry
    ) throws(Errno) {
        try withParent(path) { parent, name throws(Errno) in
            if let entry = try find(parent, name) {
                fileSystem.forget(entry.node, count: 1)
                throw .fileExists
            }
            let entry = try run { request throws(Errno) in try body(&request, parent, name) }
            fileSystem.forget(entry.node, count: 1)
        }
    }

    public func unlink(_ path: String) throws(Errno) {
        try withExisting(path) { entry, parent, name throws(Errno) in
            if entry.attributes.type == .directory { throw .isDirectory }
            try run { request throws(Errno) in try fileSystem.unlink(&request, parent: parent, name: name) }
        }
    }

    public func rmdir(_ path: String) throws(Errno) {
        try withExisting(path) { entry, parent, name throws(Errno) in
            if entry.attributes.type != .directory { throw .notDirectory }
            try run { request throws(Errno) in try fileSystem.rmdir(&request, parent: parent, name: name) }
        }
    }

    private func withExisting(
        _ path: String, _ body: (Entry, NodeID, EntryName) throws(Errno) -> Void
    ) throws(Errno) {
        try withParent(path) { parent, name throws(Errno) in
            guard let entry = try lookup(parent, name) else { throw .noSuchFileOrDirectory }
            defer { fileSystem.forget(entry.node, count: 1) }
            try body(entry, parent, name)
        }
    }

    public func rename(_ from: String, _ to: String, _ flags: RenameFlags) throws(Errno) {
        guard flags.isSubset(of: [.noReplace, .exchange]), !flags.isSuperset(of: [.noReplace, .exchange]) else {
            throw .invalidArgument
        }
        try withParent(from) { parent, name throws(Errno) in
            try withParent(to) { newParent, newName throws(Errno) in
                guard let source = try lookup(parent, name) else { throw .noSuchFileOrDirectory }
                defer { fileSystem.forget(source.node, count: 1) }
                let target = try find(newParent, newName)
                defer { if let target { fileSystem.forget(target.node, count: 1) } }
                try Self.check(source, target, flags)
                if target?.node == source.node { return }
                try run { request throws(Errno) in
                    try fileSystem.rename(
                        &request, parent: parent, name: name, newParent: newParent, newName: newName, flags: flags)
                }
            }
        }
    }

    /// The renames that the kernel itself refuses (renameat2(2), fuse_rename2).
    private static func check(_ source: Entry, _ target: Entry?, _ flags: RenameFlags) throws(Errno) {
        if flags.contains(.noReplace), target != nil { throw .fileExists }
        if flags.contains(.exchange) {
            if target == nil { throw .noSuchFileOrDirectory }
            return
        }
        guard let target else { return }
        let isDirectory = source.attributes.type == .directory
        if isDirectory && target.attributes.type != .directory { throw .notDirectory }
        if !isDirectory && target.attributes.type == .directory { throw .isDirectory }
    }

    public func readDirectory(_ path: String) throws(Errno) -> DirectoryRead {
        try with(path) { node, attributes throws(Errno) in
            if let attributes, attributes.type != .directory { throw .notDirectory }
            let handle = try run { request throws(Errno) in try fileSystem.opendir(&request, node: node) }
            defer { try? run { request throws(Errno) in fileSystem.releasedir(&request, node: node, handle: handle) } }
            var result = DirectoryRead()
            var offset: UInt64 = 0
            // The kernel begins with full entries and continues without (READDIRPLUS_AUTO).
            var wantsEntries = true
            while true {
                var sink = EntrySink(capacity: 64, wantsEntries: wantsEntries)
                let outcome = Result { () throws(Errno) in
                    try run { request throws(Errno) in
                        try fileSystem.readdir(&request, node: node, handle: handle, offset: offset, into: &sink)
                    }
                }
                for node in sink.looked { fileSystem.forget(node, count: 1) }
                if sink.entries.isEmpty {
                    if case .failure(let error) = outcome { result.error = error }
                    return result
                }
                for entry in sink.entries where entry.name != "." && entry.name != ".." {
                    result.names.append(entry.name)
                    result.types[entry.name] = entry.type
                }
                offset = sink.entries.last?.offset ?? offset
                wantsEntries = false
            }
        }
    }
}

/// A listing that takes a fixed number of entries at a time.
struct EntrySink: DirectorySink {
    let capacity: Int
    let wantsEntries: Bool
    private(set) var entries: [(name: String, type: FileSystemCore.FileType, offset: UInt64)] = []
    private(set) var looked: [NodeID] = []

    init(capacity: Int, wantsEntries: Bool) {
        self.capacity = capacity
        self.wantsEntries = wantsEntries
    }

    mutating func add(_ name: EntryName, inode: InodeNumber, type: FileSystemCore.FileType, offset: UInt64) -> Bool {
        guard entries.count < capacity else { return false }
        entries.append((name.text, type, offset))
        return true
    }

    mutating func add(_ name: EntryName, entry: Entry, offset: UInt64) -> Bool {
        guard entries.count < capacity else { return false }
        entries.append((name.text, entry.attributes.type, offset))
        looked.append(entry.node)
        return true
    }
}
