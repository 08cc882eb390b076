import CFuse3
import FileSystemCore
import SystemPackage

extension WireFileSystem {
    public func lookup(_ request: inout Request, parent: NodeID, name: EntryName) throws(Errno) -> LookupResult {
        let body = try call(FUSE_LOOKUP, parent, request) { $0.append(name: name.bytes) }
        let entry = Self.entry(body)
        return entry.node.rawValue == 0 ? .absent(timeout: entry.entryTimeout) : .found(entry)
    }

    public func forget(_ node: NodeID, count: UInt64) {
        var message = WireRequest(FUSE_FORGET, node: node)
        message.append(fuse_forget_in(nlookup: count))
        connection.post(message)
    }

    public func mknod(
        _ request: inout Request, parent: NodeID, name: EntryName, type: FileSystemCore.FileType, permissions: UInt32
    ) throws(Errno) -> Entry {
        Self.entry(
            try call(FUSE_MKNOD, parent, request) {
                $0.append(fuse_mknod_in(mode: type.rawValue | permissions, rdev: 0, umask: 0, padding: 0))
                $0.append(name: name.bytes)
            })
    }

    public func mkdir(
        _ request: inout Request, parent: NodeID, name: EntryName, permissions: UInt32
    ) throws(Errno) -> Entry {
        Self.entry(
            try call(FUSE_MKDIR, parent, request) {
                $0.append(fuse_mkdir_in(mode: permissions, umask: 0))
                $0.append(name: name.bytes)
            })
    }

    public func symlink(
        _ request: inout Request, parent: NodeID, name: EntryName, target: [UInt8]
    ) throws(Errno) -> Entry {
        Self.entry(
            try call(FUSE_SYMLINK, parent, request) {
                $0.append(name: name.bytes)
                $0.append(name: target)
            })
    }

    public func link(
        _ request: inout Request, node: NodeID, newParent: NodeID, newName: EntryName
    ) throws(Errno) -> Entry {
        Self.entry(
            try call(FUSE_LINK, newParent, request) {
                $0.append(fuse_link_in(oldnodeid: node.rawValue))
                $0.append(name: newName.bytes)
            })
    }

    public func unlink(_ request: inout Request, parent: NodeID, name: EntryName) throws(Errno) {
        _ = try call(FUSE_UNLINK, parent, request) { $0.append(name: name.bytes) }
    }

    public func rmdir(_ request: inout Request, parent: NodeID, name: EntryName) throws(Errno) {
        _ = try call(FUSE_RMDIR, parent, request) { $0.append(name: name.bytes) }
    }

    /// Uses the short form without flags, as the kernel does.
    public func rename(
        _ request: inout Request, parent: NodeID, name: EntryName, newParent: NodeID, newName: EntryName,
        flags: RenameFlags
    ) throws(Errno) {
        _ = try call(flags.isEmpty ? FUSE_RENAME : FUSE_RENAME2, parent, request) {
            if flags.isEmpty {
                $0.append(fuse_rename_in(newdir: newParent.rawValue))
            } else {
                $0.append(fuse_rename2_in(newdir: newParent.rawValue, flags: flags.rawValue, padding: 0))
            }
            $0.append(name: name.bytes)
            $0.append(name: newName.bytes)
        }
    }

    public func opendir(_ request: inout Request, node: NodeID) throws(Errno) -> HandleID {
        let body = try call(FUSE_OPENDIR, node, request) { $0.append(fuse_open_in()) }
        return Self.opened(body).handle
    }

    public func releasedir(_ request: inout Request, node: NodeID, handle: HandleID) {
        _ = try? call(FUSE_RELEASEDIR, node, request) {
            $0.append(fuse_release_in(fh: handle.rawValue, flags: 0, release_flags: 0, lock_owner: 0))
        }
    }

    public func fsyncdir(
        _ request: inout Request, node: NodeID, handle: HandleID, dataOnly: Bool
    ) throws(Errno) {
        _ = try call(FUSE_FSYNCDIR, node, request) {
            $0.append(fuse_fsync_in(fh: handle.rawValue, fsync_flags: dataOnly ? 1 : 0, padding: 0))
        }
    }

    /// Requests 4 KiB at a time. An entry for which the sink has no space ends the listing, and is forgotten.
    public func readdir(
        _ request: inout Request, node: NodeID, handle: HandleID, offset: UInt64, into sink: inout some DirectorySink
    ) throws(Errno) {
        let plus = sink.wantsEntries
        let body = try call(plus ? FUSE_READDIRPLUS : FUSE_READDIR, node, request) {
            $0.append(
                fuse_read_in(
                    fh: handle.rawValue, offset: offset, size: 4096, read_flags: 0, lock_owner: 0, flags: 0,
                    padding: 0))
        }
        var hasSpace = true
        var position = 0
        while position < body.count {
            let start = plus ? position + MemoryLayout<fuse_entry_out>.size : position
            let head = body.value(at: start, as: DirectoryEntryHead.self)
            let nameStart = start + 24
            let name = EntryName(Array(body.dropFirst(nameStart).prefix(Int(head.namelen))))
            let entry = plus ? Self.entry(Array(body.dropFirst(position))) : nil
            if hasSpace, let name { hasSpace = Self.add(name, head, entry, to: &sink) }
            if !hasSpace, let entry, entry.node.rawValue != 0 { forget(entry.node, count: 1) }
            position = nameStart + (Int(head.namelen) + 7) / 8 * 8
        }
    }

    private static func add(
        _ name: EntryName, _ head: DirectoryEntryHead, _ entry: Entry?, to sink: inout some DirectorySink
    ) -> Bool {
        if let entry, entry.node.rawValue != 0 { return sink.add(name, entry: entry, offset: head.off) }
        let type = FileSystemCore.FileType(rawValue: head.type << 12) ?? .regular
        return sink.add(name, inode: InodeNumber(rawValue: head.ino), type: type, offset: head.off)
    }
}

/// `struct fuse_dirent` without its name.
struct DirectoryEntryHead: BitwiseCopyable {
    let ino: UInt64
    let off: UInt64
    let namelen: UInt32
    let type: UInt32
}
