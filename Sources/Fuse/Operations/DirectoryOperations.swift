import CFuse3
import FileSystemCore
import Glibc
import SystemPackage

/// Operations on open directories.
enum DirectoryOperations {
    static func install(_ operations: inout fuse_lowlevel_ops) {
        installListing(&operations)
        unsafe operations.opendir = { raw, node, _ in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                let node = NodeID(rawValue: node)
                return OpenDirectoryReply(node: node, handle: try fileSystem.opendir(&request, node: node))
            }
        }
        unsafe operations.releasedir = { raw, node, information in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                fileSystem.releasedir(&request, node: NodeID(rawValue: node), handle: unsafe HandleID(information))
                return EmptyReply()
            }
        }
        unsafe operations.fsyncdir = { raw, node, dataOnly, information in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                try fileSystem.fsyncdir(
                    &request, node: NodeID(rawValue: node), handle: unsafe HandleID(information),
                    dataOnly: dataOnly != 0)
                return EmptyReply()
            }
        }
    }

    private static func installListing(_ operations: inout fuse_lowlevel_ops) {
        unsafe operations.readdir = { raw, node, size, offset, information in
            unsafe DirectoryOperations.list(
                raw, node: NodeID(rawValue: node), size: size, offset: offset, handle: HandleID(information),
                wantsEntries: false)
        }
        unsafe operations.readdirplus = { raw, node, size, offset, information in
            unsafe DirectoryOperations.list(
                raw, node: NodeID(rawValue: node), size: size, offset: offset, handle: HandleID(information),
                wantsEntries: true)
        }
    }

    /// After an error the reply contains the entries before it; the next call, which continues there, gets the error
    /// again.
    private static func list(
        _ raw: OpaquePointer?, node: NodeID, size: Int, offset: Int, handle: HandleID, wantsEntries: Bool
    ) {
        unsafe serve(raw) { fileSystem, request throws(Errno) in
            guard let raw = unsafe raw else { throw .invalidArgument }
            var buffer = unsafe DirectoryBuffer(size: size, wantsEntries: wantsEntries, request: raw)
            do throws(Errno) {
                // The offset is a value of the file system: 64 bits without a sign.
                try fileSystem.readdir(
                    &request, node: node, handle: handle, offset: UInt64(bitPattern: Int64(offset)), into: &buffer)
            } catch {
                if buffer.isEmpty { throw error }
            }
            return DirectoryReply(bytes: buffer.bytes, nodes: buffer.nodes)
        }
    }
}
