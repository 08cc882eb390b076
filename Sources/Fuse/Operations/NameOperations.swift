import CFuse3
import FileSystemCore
import Glibc
import SystemPackage

/// Operations on names: lookup, forget, mknod, mkdir, symlink, link, unlink, rmdir, rename.
enum NameOperations {
    static func install(_ operations: inout fuse_lowlevel_ops) {
        installLookups(&operations)
        installMakers(&operations)
        installLinks(&operations)
        installRemovers(&operations)
    }

    private static func installLookups(_ operations: inout fuse_lowlevel_ops) {
        unsafe operations.lookup = { raw, parent, name in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                LookupReply(
                    result: try fileSystem.lookup(
                        &request, parent: NodeID(rawValue: parent), name: unsafe entryName(name)))
            }
        }
        unsafe operations.forget = { raw, node, count in
            guard let raw = unsafe raw else { return }
            unsafe Dispatcher.of(raw)?.fileSystem.forget(NodeID(rawValue: node), count: count)
            unsafe fuse_reply_none(raw)
        }
        unsafe operations.forget_multi = { raw, count, list in
            guard let raw = unsafe raw else { return }
            let fileSystem = unsafe Dispatcher.of(raw)?.fileSystem
            let entries = unsafe UnsafeBufferPointer(start: list, count: count)
            for index in entries.indices {
                let entry = unsafe entries[index]
                fileSystem?.forget(NodeID(rawValue: entry.ino), count: entry.nlookup)
            }
            unsafe fuse_reply_none(raw)
        }
    }

    private static func installMakers(_ operations: inout fuse_lowlevel_ops) {
        unsafe operations.mknod = { raw, parent, name, mode, _ in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                guard let type = FileType(rawValue: mode & FileType.mask) else { throw .invalidArgument }
                return EntryReply(
                    entry: try fileSystem.mknod(
                        &request, parent: NodeID(rawValue: parent), name: unsafe entryName(name), type: type,
                        permissions: mode & 0o7777))
            }
        }
        unsafe operations.mkdir = { raw, parent, name, mode in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                EntryReply(
                    entry: try fileSystem.mkdir(
                        &request, parent: NodeID(rawValue: parent), name: unsafe entryName(name),
                        permissions: mode & 0o7777))
            }
        }
    }

    private static func installLinks(_ operations: inout fuse_lowlevel_ops) {
        unsafe operations.symlink = { raw, target, parent, name in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                EntryReply(
                    entry: try fileSystem.symlink(
                        &request, parent: NodeID(rawValue: parent), name: unsafe entryName(name),
                        target: unsafe bytes(target)))
            }
        }
        unsafe operations.link = { raw, node, parent, name in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                EntryReply(
                    entry: try fileSystem.link(
                        &request, node: NodeID(rawValue: node), newParent: NodeID(rawValue: parent),
                        newName: unsafe entryName(name)))
            }
        }
    }

    private static func installRemovers(_ operations: inout fuse_lowlevel_ops) {
        unsafe operations.unlink = { raw, parent, name in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                try fileSystem.unlink(&request, parent: NodeID(rawValue: parent), name: unsafe entryName(name))
                return EmptyReply()
            }
        }
        unsafe operations.rmdir = { raw, parent, name in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                try fileSystem.rmdir(&request, parent: NodeID(rawValue: parent), name: unsafe entryName(name))
                return EmptyReply()
            }
        }
        unsafe operations.rename = { raw, parent, name, newParent, newName, flags in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                try fileSystem.rename(
                    &request, parent: NodeID(rawValue: parent), name: unsafe entryName(name),
                    newParent: NodeID(rawValue: newParent), newName: unsafe entryName(newName),
                    flags: RenameFlags(rawValue: flags))
                return EmptyReply()
            }
        }
    }
}
