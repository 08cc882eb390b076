import CFuse3
import FileSystemCore
import Glibc
import SystemPackage

extension WireFileSystem {
    public func getattr(
        _ request: inout Request, node: NodeID, handle: HandleID?
    ) throws(Errno) -> TimedAttributes {
        Self.timed(
            try call(FUSE_GETATTR, node, request) {
                $0.append(
                    fuse_getattr_in(getattr_flags: handle == nil ? 0 : 1, dummy: 0, fh: handle?.rawValue ?? 0))
            })
    }

    public func setattr(
        _ request: inout Request, node: NodeID, changes: AttributeChanges
    ) throws(Errno) -> TimedAttributes {
        Self.timed(try call(FUSE_SETATTR, node, request) { $0.append(fuse_setattr_in(changes)) })
    }

    public func statfs(_ request: inout Request, node: NodeID) throws(Errno) -> FileSystemStatistics {
        let out = try call(FUSE_STATFS, node, request).value(at: 0, as: fuse_kstatfs.self)
        return FileSystemStatistics(
            blockSize: UInt64(out.frsize), blocks: out.blocks, freeBlocks: out.bfree, availableBlocks: out.bavail,
            files: out.files, freeFiles: out.ffree, maximumNameLength: UInt64(out.namelen))
    }

    public func access(_ request: inout Request, node: NodeID, mask: Int32) throws(Errno) {
        _ = try call(FUSE_ACCESS, node, request) {
            $0.append(fuse_access_in(mask: UInt32(bitPattern: mask), padding: 0))
        }
    }

    public func setxattr(
        _ request: inout Request, node: NodeID, name: [UInt8], value: RawSpan, flags: XattrFlags
    ) throws(Errno) {
        let bytes = value.withUnsafeBytes { Array($0) }
        _ = try call(FUSE_SETXATTR, node, request) {
            // The short form, which holds without FUSE_SETXATTR_EXT.
            $0.append(UInt32(bytes.count))
            $0.append(UInt32(bitPattern: flags.rawValue))
            $0.append(name: name)
            $0.append(bytes: bytes)
        }
    }

    public func getxattr(_ request: inout Request, node: NodeID, name: [UInt8]) throws(Errno) -> [UInt8] {
        try sized(FUSE_GETXATTR, node, request, name)
    }

    public func listxattr(_ request: inout Request, node: NodeID) throws(Errno) -> [[UInt8]] {
        try sized(FUSE_LISTXATTR, node, request, nil).split(separator: 0).map { Array($0) }
    }

    public func removexattr(_ request: inout Request, node: NodeID, name: [UInt8]) throws(Errno) {
        _ = try call(FUSE_REMOVEXATTR, node, request) { $0.append(name: name) }
    }

    /// Asks for the size, then for as much; ERANGE if it has grown in between.
    private func sized(
        _ opcode: fuse_opcode, _ node: NodeID, _ request: borrowing Request, _ name: [UInt8]?
    ) throws(Errno) -> [UInt8] {
        let size = try xattr(opcode, node, request, name, room: 0).value(at: 0, as: fuse_getxattr_out.self).size
        return size == 0 ? [] : try xattr(opcode, node, request, name, room: size)
    }

    /// Sends a GETXATTR or LISTXATTR with a buffer of `room` bytes; 0 requests the size.
    public func xattr(
        _ opcode: fuse_opcode, _ node: NodeID, _ request: borrowing Request, _ name: [UInt8]?, room: UInt32
    ) throws(Errno) -> [UInt8] {
        try call(opcode, node, request) {
            $0.append(fuse_getxattr_in(size: room, padding: 0))
            if let name { $0.append(name: name) }
        }
    }
}

extension fuse_setattr_in {
    init(_ changes: AttributeChanges) {
        self.init()
        if let permissions = changes.permissions {
            valid |= UInt32(FATTR_MODE)
            mode = permissions
        }
        if let user = changes.userID {
            valid |= UInt32(FATTR_UID)
            uid = user
        }
        if let group = changes.groupID {
            valid |= UInt32(FATTR_GID)
            gid = group
        }
        if let newSize = changes.size {
            valid |= UInt32(FATTR_SIZE | FATTR_LOCKOWNER)
            size = newSize
            lock_owner = changes.lockOwner.rawValue
        }
        if let handle = changes.handle {
            valid |= UInt32(FATTR_FH)
            fh = handle.rawValue
        }
        setTimes(changes)
    }

    private mutating func setTimes(_ changes: AttributeChanges) {
        switch changes.accessTime {
        case nil: break
        case .now: valid |= UInt32(FATTR_ATIME | FATTR_ATIME_NOW)
        case .at(let time):
            valid |= UInt32(FATTR_ATIME)
            atime = UInt64(bitPattern: time.seconds)
            atimensec = UInt32(time.nanoseconds)
        }
        switch changes.modificationTime {
        case nil: break
        case .now: valid |= UInt32(FATTR_MTIME | FATTR_MTIME_NOW)
        case .at(let time):
            valid |= UInt32(FATTR_MTIME)
            mtime = UInt64(bitPattern: time.seconds)
            mtimensec = UInt32(time.nanoseconds)
        }
    }
}
