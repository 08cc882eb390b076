import CFuse3
import FileSystemCore
import Glibc

/// The contents of a successful reply; one type for each kind of reply.
protocol ReplyBody: Sendable {
    /// Sends the reply through libfuse, which frees the request.
    ///
    /// - Returns: 0, or `-ENOENT` if the caller no longer exists.
    func send(to request: OpaquePointer) -> Int32

    /// Reverts the effect of the reply, such as a lookup count, because the kernel has not received it.
    func undo(_ dispatcher: Dispatcher, caller: Caller)
}

extension ReplyBody {
    func undo(_ dispatcher: Dispatcher, caller: Caller) {}
}

/// A reply without contents.
struct EmptyReply: ReplyBody {
    func send(to request: OpaquePointer) -> Int32 { unsafe fuse_reply_err(request, 0) }
}

struct EntryReply: ReplyBody {
    let entry: Entry

    func send(to request: OpaquePointer) -> Int32 {
        var parameters = fuse_entry_param(entry)
        return unsafe fuse_reply_entry(request, &parameters)
    }

    func undo(_ dispatcher: Dispatcher, caller: Caller) { dispatcher.fileSystem.forget(entry.node, count: 1) }
}

struct LookupReply: ReplyBody {
    let result: LookupResult

    func send(to request: OpaquePointer) -> Int32 {
        switch result {
        case .found(let entry):
            return unsafe EntryReply(entry: entry).send(to: request)
        case .absent(let timeout) where timeout > 0:
            // Node 0: the kernel caches that the name does not exist.
            var parameters = fuse_entry_param()
            parameters.entry_timeout = timeout
            return unsafe fuse_reply_entry(request, &parameters)
        case .absent:
            return unsafe fuse_reply_err(request, ENOENT)
        }
    }

    func undo(_ dispatcher: Dispatcher, caller: Caller) {
        if case .found(let entry) = result { dispatcher.fileSystem.forget(entry.node, count: 1) }
    }
}

struct AttributesReply: ReplyBody {
    let attributes: TimedAttributes

    func send(to request: OpaquePointer) -> Int32 {
        var status = stat(attributes.attributes)
        return unsafe fuse_reply_attr(request, &status, attributes.timeout)
    }
}

struct StatisticsReply: ReplyBody {
    let statistics: FileSystemStatistics

    func send(to request: OpaquePointer) -> Int32 {
        var status = statvfs(statistics)
        return unsafe fuse_reply_statfs(request, &status)
    }
}

/// The number of bytes written by WRITE or COPY_FILE_RANGE.
struct CountReply: ReplyBody {
    let count: Int

    func send(to request: OpaquePointer) -> Int32 { unsafe fuse_reply_write(request, max(count, 0)) }
}
