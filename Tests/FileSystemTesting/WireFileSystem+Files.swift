import CFuse3
import FileSystemCore
import SystemPackage

extension WireFileSystem {
    public func create(
        _ request: inout Request, parent: NodeID, name: EntryName, permissions: UInt32, flags: OpenFlags
    ) throws(Errno) -> (Entry, OpenFileInfo) {
        let body = try call(FUSE_CREATE, parent, request) {
            $0.append(
                fuse_create_in(
                    flags: UInt32(bitPattern: flags.rawValue),
                    mode: FileSystemCore.FileType.regular.rawValue | permissions, umask: 0, open_flags: 0))
            $0.append(name: name.bytes)
        }
        return (Self.entry(body), Self.opened(body, at: MemoryLayout<fuse_entry_out>.size))
    }

    public func open(_ request: inout Request, node: NodeID, flags: OpenFlags) throws(Errno) -> OpenFileInfo {
        Self.opened(
            try call(FUSE_OPEN, node, request) {
                $0.append(fuse_open_in(flags: UInt32(bitPattern: flags.rawValue), open_flags: 0))
            })
    }

    public func read(
        _ request: inout Request, node: NodeID, handle: HandleID, offset: UInt64, size: Int, owner: LockOwner?,
        body: (inout Request, RawSpan) -> Void
    ) throws(Errno) {
        let bytes = try call(FUSE_READ, node, request) {
            $0.append(
                fuse_read_in(
                    fh: handle.rawValue, offset: offset, size: UInt32(size), read_flags: owner == nil ? 0 : 2,
                    lock_owner: owner?.rawValue ?? 0, flags: 0, padding: 0))
        }
        body(&request, bytes.span.bytes)
    }

    public func write(
        _ request: inout Request, node: NodeID, handle: HandleID, offset: UInt64, data: RawSpan, owner: LockOwner,
        flags: OpenFlags
    ) throws(Errno) -> Int {
        let bytes = data.withUnsafeBytes { Array($0) }
        let body = try call(FUSE_WRITE, node, request) {
            $0.append(
                fuse_write_in(
                    fh: handle.rawValue, offset: offset, size: UInt32(bytes.count), write_flags: 2,
                    lock_owner: owner.rawValue, flags: UInt32(bitPattern: flags.rawValue), padding: 0))
            $0.append(bytes: bytes)
        }
        return Int(body.value(at: 0, as: fuse_write_out.self).size)
    }

    public func flush(
        _ request: inout Request, node: NodeID, handle: HandleID, owner: LockOwner
    ) throws(Errno) {
        _ = try call(FUSE_FLUSH, node, request) {
            $0.append(fuse_flush_in(fh: handle.rawValue, unused: 0, padding: 0, lock_owner: owner.rawValue))
        }
    }

    public func fsync(
        _ request: inout Request, node: NodeID, handle: HandleID, dataOnly: Bool
    ) throws(Errno) {
        _ = try call(FUSE_FSYNC, node, request) {
            $0.append(fuse_fsync_in(fh: handle.rawValue, fsync_flags: dataOnly ? 1 : 0, padding: 0))
        }
    }

    public func release(_ request: inout Request, node: NodeID, handle: HandleID) {
        _ = try? call(FUSE_RELEASE, node, request) {
            $0.append(fuse_release_in(fh: handle.rawValue, flags: 0, release_flags: 0, lock_owner: 0))
        }
    }

    public func copyFileRange(
        _ request: inout Request, from: NodeID, fromHandle: HandleID, fromOffset: UInt64, to: NodeID,
        toHandle: HandleID, toOffset: UInt64, size: Int, owner: LockOwner
    ) throws(Errno) -> Int {
        let body = try call(FUSE_COPY_FILE_RANGE, from, request) {
            $0.append(
                fuse_copy_file_range_in(
                    fh_in: fromHandle.rawValue, off_in: fromOffset, nodeid_out: to.rawValue,
                    fh_out: toHandle.rawValue, off_out: toOffset, len: UInt64(size), flags: 0))
        }
        return Int(body.value(at: 0, as: fuse_write_out.self).size)
    }
}
