import CFuse3
import Glibc

/// libfuse's session, and the objects that must outlive it.
@safe final class SessionHandle: Sendable {
    // A constant; libfuse permits that its workers share the session.
    nonisolated(unsafe) let pointer: OpaquePointer
    let dispatcher: Dispatcher

    /// Creates a session.
    ///
    /// - Throws: ``FuseError/sessionRefused`` if libfuse refuses the options.
    init(_ dispatcher: Dispatcher, _ options: SessionOptions) throws(FuseError) {
        self.dispatcher = dispatcher
        FuseLog.takeOver()
        var operations = fuse_lowlevel_ops()
        Negotiation.install(&operations)
        NameOperations.install(&operations)
        AttributeOperations.install(&operations)
        FileOperations.install(&operations)
        DirectoryOperations.install(&operations)
        var arguments = unsafe fuse_args(argc: 0, argv: nil, allocated: 0)
        defer { unsafe fuse_opt_free_args(&arguments) }
        unsafe fuse_opt_add_arg(&arguments, "fuse")
        unsafe fuse_opt_add_arg(&arguments, "-omax_read=\(SessionOptions.maximumRead)")
        if options.allowsRoot { unsafe fuse_opt_add_arg(&arguments, "-oallow_root") }
        // libfuse calls operations only while it serves a message, that is, during the lifetime of this object.
        let data = unsafe Unmanaged.passUnretained(dispatcher).toOpaque()
        let session = unsafe cfuse3_session_new(
            &arguments, &operations, MemoryLayout<fuse_lowlevel_ops>.size, data)
        guard let session = unsafe session else { throw .sessionRefused }
        unsafe pointer = session
    }

    /// Makes libfuse use `channel`, whose descriptor it closes at the end.
    func attach(_ channel: Channel) throws(FuseError) {
        let result = unsafe cfuse3_session_attach(pointer, channel.descriptor) { descriptor, parts, count, _ in
            unsafe Channel.sendReply(descriptor, parts, count)
        }
        guard result == 0 else { throw .sessionRefused }
    }

    deinit { unsafe fuse_session_destroy(pointer) }
}
