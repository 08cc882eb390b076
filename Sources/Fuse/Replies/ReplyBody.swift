import CFuse3
import FileSystemCore
import Glibc

/// What a request is answered with when it succeeds: one type for each kind of answer.
protocol ReplyBody: Sendable {
    /// Sends it through libfuse, which frees the request; returns 0 or `-ENOENT`, if the caller is gone.
    func send(to request: OpaquePointer) -> Int32

    /// Takes back what the answer gave, because the kernel never got it.
    func undo(_ dispatcher: Dispatcher, caller: Caller)
}

extension ReplyBody {
    func undo(_ dispatcher: Dispatcher, caller: Caller) {}
}

/// Success without anything more.
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
            // Node 0: the kernel remembers that there is no such name.
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

/// How many bytes were taken, by WRITE and COPY_FILE_RANGE.
struct CountReply: ReplyBody {
    let count: Int

    func send(to request: OpaquePointer) -> Int32 { unsafe fuse_reply_write(request, max(count, 0)) }
}
