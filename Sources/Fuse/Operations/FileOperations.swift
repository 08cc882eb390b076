import CFuse3
import FileSystemCore
import Glibc
import SystemPackage

/// Operations on files and their contents.
enum FileOperations {
    static func install(_ operations: inout fuse_lowlevel_ops) {
        installOpening(&operations)
        installContents(&operations)
        installCopying(&operations)
        installClosing(&operations)
    }

    private static func installOpening(_ operations: inout fuse_lowlevel_ops) {
        unsafe operations.create = { raw, parent, name, mode, information in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                let flags = OpenFlags(rawValue: unsafe information?.pointee.flags ?? 0)
                let (entry, file) = try fileSystem.create(
                    &request, parent: NodeID(rawValue: parent), name: unsafe entryName(name),
                    permissions: mode & 0o7777, flags: flags)
                return CreateReply(entry: entry, file: file)
            }
        }
        unsafe operations.open = { raw, node, information in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                let flags = OpenFlags(rawValue: unsafe information?.pointee.flags ?? 0)
                let node = NodeID(rawValue: node)
                return OpenReply(node: node, file: try fileSystem.open(&request, node: node, flags: flags))
            }
        }
    }

    private static func installContents(_ operations: inout fuse_lowlevel_ops) {
        unsafe operations.read = { raw, node, size, offset, information in
            unsafe FileOperations.serveRead(
                raw, node: NodeID(rawValue: node), handle: HandleID(information), offset: offset, size: size,
                owner: LockOwner(information))
        }
        unsafe operations.write = { raw, node, data, size, offset, information in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                guard offset >= 0 else { throw .invalidArgument }
                return CountReply(
                    count: try fileSystem.write(
                        &request, node: NodeID(rawValue: node), handle: unsafe HandleID(information),
                        offset: UInt64(offset), data: unsafe UnsafeRawBufferPointer(start: data, count: size).bytes,
                        owner: unsafe LockOwner(information),
                        flags: OpenFlags(rawValue: unsafe information?.pointee.flags ?? 0)))
            }
        }
    }

    private static func installCopying(_ operations: inout fuse_lowlevel_ops) {
        unsafe operations.copy_file_range = {
            raw, from, fromOffset, fromInformation, to, toOffset, toInformation, size, flags in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                guard flags == 0, fromOffset >= 0, toOffset >= 0, size >= 0 else { throw .invalidArgument }
                // The protocol has no lock owner here. The count in the reply has 32 bits.
                return CountReply(
                    count: try fileSystem.copyFileRange(
                        &request, from: NodeID(rawValue: from), fromHandle: unsafe HandleID(fromInformation),
                        fromOffset: UInt64(fromOffset), to: NodeID(rawValue: to),
                        toHandle: unsafe HandleID(toInformation), toOffset: UInt64(toOffset),
                        size: min(size, 0x7FFF_F000), owner: LockOwner(rawValue: 0)))
            }
        }
    }

    private static func installClosing(_ operations: inout fuse_lowlevel_ops) {
        unsafe operations.flush = { raw, node, information in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                try fileSystem.flush(
                    &request, node: NodeID(rawValue: node), handle: unsafe HandleID(information),
                    owner: unsafe LockOwner(information))
                return EmptyReply()
            }
        }
        unsafe operations.fsync = { raw, node, dataOnly, information in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                try fileSystem.fsync(
                    &request, node: NodeID(rawValue: node), handle: unsafe HandleID(information),
                    dataOnly: dataOnly != 0)
                return EmptyReply()
            }
        }
        unsafe operations.release = { raw, node, information in
            unsafe serve(raw) { fileSystem, request throws(Errno) in
                fileSystem.release(&request, node: NodeID(rawValue: node), handle: unsafe HandleID(information))
                return EmptyReply()
            }
        }
    }

    /// Replies to a READ from inside the file system, where the bytes are, without a copy.
    private static func serveRead(
        _ raw: OpaquePointer?, node: NodeID, handle: HandleID, offset: Int, size: Int,
        owner: LockOwner
    ) {
        guard let raw = unsafe raw, let dispatcher = unsafe Dispatcher.of(raw) else { return }
        let ticket = unsafe FuseRequest(raw, dispatcher)
        var reply: Reply<DataReply>? = Reply(ticket)
        var request = ticket.request()
        do throws(Errno) {
            guard offset >= 0 else { throw .invalidArgument }
            try dispatcher.fileSystem.read(
                &request, node: node, handle: handle, offset: UInt64(offset), size: size,
                // Without FUSE_READ_LOCKOWNER the field is 0; otherwise a number that the kernel has scrambled.
                owner: owner.rawValue == 0 ? nil : owner
            ) { request, bytes in
                reply.take()?.send(bytes.extracting(first: size), notifying: Notifications(taking: &request))
            }
        } catch {
            if let reply = reply.take() {
                reply.fail(error, notifying: Notifications(taking: &request))
            }
        }
        // Notifications that were queued after the reply.
        let late = Notifications(request)
        if reply == nil, !late.isEmpty { dispatcher.notifier.deliver(late) {} }
    }
}
