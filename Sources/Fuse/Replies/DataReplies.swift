import CFuse3
import FileSystemCore
import Glibc

/// Contents of a file that had to wait for notifications; otherwise they are sent from where they lie.
struct DataReply: ReplyBody {
    let bytes: WipingBuffer

    func send(to request: OpaquePointer) -> Int32 {
        unsafe fuse_reply_buf(request, bytes.start.assumingMemoryBound(to: CChar.self), bytes.count)
    }
}

/// Entries of a directory, as the kernel takes them.
struct DirectoryReply: ReplyBody {
    let bytes: WipingBuffer
    /// Those that count as looked up.
    let nodes: [NodeID]

    func send(to request: OpaquePointer) -> Int32 { unsafe DataReply(bytes: bytes).send(to: request) }

    func undo(_ dispatcher: Dispatcher, caller: Caller) {
        for node in nodes { dispatcher.fileSystem.forget(node, count: 1) }
    }
}

/// An extended attribute, or the list of them: the bytes, or their number to who asks with no room.
struct XattrReply: ReplyBody {
    let value: [UInt8]
    /// How many bytes the caller has room for.
    let capacity: Int

    func send(to request: OpaquePointer) -> Int32 {
        if capacity == 0 { return unsafe fuse_reply_xattr(request, value.count) }
        guard value.count <= capacity else { return unsafe fuse_reply_err(request, ERANGE) }
        return unsafe value.withUnsafeBytes { bytes in
            unsafe fuse_reply_buf(
                request, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        }
    }
}
