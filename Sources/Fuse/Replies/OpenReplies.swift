import CFuse3
import FileSystemCore

struct OpenReply: ReplyBody {
    let node: NodeID
    let file: OpenFileInfo

    func send(to request: OpaquePointer) -> Int32 {
        var information = fuse_file_info(file)
        return unsafe fuse_reply_open(request, &information)
    }

    func undo(_ dispatcher: Dispatcher, caller: Caller) {
        dispatcher.serveSilently(caller) { fileSystem, request in
            fileSystem.release(&request, node: node, handle: file.handle)
        }
    }
}

struct CreateReply: ReplyBody {
    let entry: Entry
    let file: OpenFileInfo

    func send(to request: OpaquePointer) -> Int32 {
        var parameters = fuse_entry_param(entry)
        var information = fuse_file_info(file)
        return unsafe fuse_reply_create(request, &parameters, &information)
    }

    func undo(_ dispatcher: Dispatcher, caller: Caller) {
        OpenReply(node: entry.node, file: file).undo(dispatcher, caller: caller)
        dispatcher.fileSystem.forget(entry.node, count: 1)
    }
}

struct OpenDirectoryReply: ReplyBody {
    let node: NodeID
    let handle: HandleID

    func send(to request: OpaquePointer) -> Int32 {
        var information = fuse_file_info()
        information.fh = handle.rawValue
        return unsafe fuse_reply_open(request, &information)
    }

    func undo(_ dispatcher: Dispatcher, caller: Caller) {
        dispatcher.serveSilently(caller) { fileSystem, request in
            fileSystem.releasedir(&request, node: node, handle: handle)
        }
    }
}
