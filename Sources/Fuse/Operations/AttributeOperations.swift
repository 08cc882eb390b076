import CFuse3
import FileSystemCore
import Glibc
import SystemPackage

/// Operations on attributes: getattr, setattr, access, statfs and extended attributes.
enum AttributeOperations {
    static func install(_ operations: inout fuse_lowlevel_ops) {
        installStatus(&operations)
        installQuestions(&operations)
        installXattrReaders(&operations)
        installXattrWriters(&operations)
    }

    private static func installStatus(_ operations: inout fuse_lowlevel_ops) {
        unsafe operations.getattr = { raw, node, information in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                let handle = unsafe information == nil ? nil : unsafe HandleID(information)
                return AttributesReply(
                    attributes: try fileSystem.getattr(&request, node: NodeID(rawValue: node), handle: handle))
            }
        }
        unsafe operations.setattr = { raw, node, status, fields, information in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                guard let status = unsafe status else { throw .invalidArgument }
                var changes = AttributeChanges(unsafe status.pointee, fields: fields)
                changes.handle = unsafe information == nil ? nil : unsafe HandleID(information)
                return AttributesReply(
                    attributes: try fileSystem.setattr(&request, node: NodeID(rawValue: node), changes: changes))
            }
        }
    }

    private static func installQuestions(_ operations: inout fuse_lowlevel_ops) {
        unsafe operations.access = { raw, node, mask in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                try fileSystem.access(&request, node: NodeID(rawValue: node), mask: mask)
                return EmptyReply()
            }
        }
        unsafe operations.statfs = { raw, node in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                StatisticsReply(statistics: try fileSystem.statfs(&request, node: NodeID(rawValue: node)))
            }
        }
    }

    private static func installXattrReaders(_ operations: inout fuse_lowlevel_ops) {
        unsafe operations.getxattr = { raw, node, name, size in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                let value = try fileSystem.getxattr(&request, node: NodeID(rawValue: node), name: unsafe bytes(name))
                return XattrReply(value: value, capacity: size)
            }
        }
        unsafe operations.listxattr = { raw, node, size in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                let names = try fileSystem.listxattr(&request, node: NodeID(rawValue: node))
                return XattrReply(value: names.flatMap { $0 + [0] }, capacity: size)
            }
        }
    }

    private static func installXattrWriters(_ operations: inout fuse_lowlevel_ops) {
        unsafe operations.setxattr = { raw, node, name, value, size, flags in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                try fileSystem.setxattr(
                    &request, node: NodeID(rawValue: node), name: unsafe bytes(name),
                    value: unsafe UnsafeRawBufferPointer(start: value, count: size).bytes,
                    flags: XattrFlags(rawValue: flags))
                return EmptyReply()
            }
        }
        unsafe operations.removexattr = { raw, node, name in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                try fileSystem.removexattr(&request, node: NodeID(rawValue: node), name: unsafe bytes(name))
                return EmptyReply()
            }
        }
    }
}

extension AttributeChanges {
    /// Creates the changes of a SETATTR.
    ///
    /// - Parameter fields: The `FUSE_SET_ATTR_` bits that libfuse passes on. The lock owner is read from the message
    ///   itself.
    init(_ status: stat, fields: Int32) {
        self.init()
        if fields & FUSE_SET_ATTR_MODE != 0 { permissions = status.st_mode & 0o7777 }
        if fields & FUSE_SET_ATTR_UID != 0 { userID = status.st_uid }
        if fields & FUSE_SET_ATTR_GID != 0 { groupID = status.st_gid }
        if fields & FUSE_SET_ATTR_SIZE != 0 {
            size = UInt64(max(status.st_size, 0))
            lockOwner = LockOwner(rawValue: CurrentMessage.lockOwner)
        }
        if fields & FUSE_SET_ATTR_ATIME != 0 {
            accessTime = fields & FUSE_SET_ATTR_ATIME_NOW != 0 ? .now : .at(Timestamp(status.st_atim))
        }
        if fields & FUSE_SET_ATTR_MTIME != 0 {
            modificationTime = fields & FUSE_SET_ATTR_MTIME_NOW != 0 ? .now : .at(Timestamp(status.st_mtim))
        }
    }
}
