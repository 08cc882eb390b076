import CFuse3
import FileSystemCore
import Synchronization

/// What is agreed with the kernel at FUSE_INIT.
enum Negotiation {
    /// The features that are used if the kernel has them.
    ///
    /// Not: splice (contents would pass through pipes), the writeback cache (the kernel would hold contents back),
    /// automatic invalidation (the file system tells), POSIX ACLs, locks (the kernel keeps them), and
    /// `FUSE_CAP_DONT_MASK`, so that modes come masked.
    static let features =
        FUSE_CAP_ASYNC_READ | FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_READDIRPLUS
        | FUSE_CAP_READDIRPLUS_AUTO

    static func install(_ operations: inout fuse_lowlevel_ops) {
        unsafe operations.`init` = { data, connection in
            guard let data = unsafe data, let connection = unsafe connection else { return }
            unsafe Negotiation.negotiate(on: &connection.pointee)
            let dispatcher = unsafe Unmanaged<Dispatcher>.fromOpaque(data).takeUnretainedValue()
            unsafe dispatcher.notifier.start(kernelMinor: connection.pointee.proto_minor)
        }
    }

    private static func negotiate(on connection: inout fuse_conn_info) {
        connection.want = connection.capable & UInt32(features)
        connection.max_write = min(connection.max_write, UInt32(SessionOptions.maximumWrite))
        // The same as the mount option, or libfuse refuses.
        connection.max_read = UInt32(SessionOptions.maximumRead)
        // Contents that pass the page cache (sendfile, MAP_PRIVATE) are read as they are asked for, not ahead.
        connection.max_readahead = 0
        connection.max_background = 64
        connection.congestion_threshold = 48
    }
}
