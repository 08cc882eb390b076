import CFuse3
import FileSystemCore
import Glibc

/// The contents of a file in a reply that waits for notifications. Other replies are sent without a copy.
struct DataReply: ReplyBody {
    let bytes: WipingBuffer

    func send(to request: OpaquePointer) -> Int32 {
        unsafe fuse_reply_buf(request, bytes.start.assumingMemoryBound(to: CChar.self), bytes.count)
    }
}

/// The entries of a directory, in the kernel's format.
struct DirectoryReply: ReplyBody {
    let bytes: WipingBuffer
    /// The nodes whose lookup counts the reply increments.
    let nodes: [NodeID]

    func send(to request: OpaquePointer) -> Int32 { unsafe DataReply(bytes: bytes).send(to: request) }

    func undo(_ dispatcher: Dispatcher, caller: Caller) {
        for node in nodes { dispatcher.fileSystem.forget(node, count: 1) }
    }
}

/// The value of an extended attribute or the list of attributes; only their size if the caller's buffer has size 0.
struct XattrReply: ReplyBody {
    let value: [UInt8]
    /// The size of the caller's buffer in bytes.
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
