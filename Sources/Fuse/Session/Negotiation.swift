import CFuse3
import FileSystemCore
import Synchronization

/// The negotiation with the kernel at FUSE_INIT.
enum Negotiation {
    /// The features that are used if the kernel supports them.
    ///
    /// `FUSE_CAP_ASYNC_DIO` is needed for correct data: without it the kernel does not advance the position of a read by
    /// io_uring that it continues after a short reply, so the beginning is repeated until the buffer is full.
    ///
    /// Not used: splice (contents would pass through pipes), the writeback cache (the kernel would hold contents back),
    /// automatic invalidation (the file system sends notifications), POSIX ACLs, locks (the kernel keeps them), and
    /// `FUSE_CAP_DONT_MASK`, so that the kernel applies the umask.
    static let features = [
        FUSE_CAP_ASYNC_READ, FUSE_CAP_ASYNC_DIO, FUSE_CAP_ATOMIC_O_TRUNC, FUSE_CAP_PARALLEL_DIROPS,
        FUSE_CAP_READDIRPLUS, FUSE_CAP_READDIRPLUS_AUTO,
    ].reduce(UInt64(0)) { $0 | UInt64($1) }

    static func install(_ operations: inout fuse_lowlevel_ops) {
        unsafe operations.`init` = { data, connection in
            guard let data = unsafe data, let connection = unsafe connection else { return }
            unsafe Negotiation.negotiate(on: &connection.pointee)
            let dispatcher = unsafe Unmanaged<Dispatcher>.fromOpaque(data).takeUnretainedValue()
            unsafe dispatcher.notifier.start(kernelMinor: connection.pointee.proto_minor)
        }
    }

    private static func negotiate(on connection: inout fuse_conn_info) {
        unsafe cfuse3_request_features(&connection, features)
        connection.max_write = min(connection.max_write, UInt32(SessionOptions.maximumWrite))
        // libfuse requires the same value as in the mount option.
        connection.max_read = UInt32(SessionOptions.maximumRead)
        // Contents that pass through the page cache (sendfile, MAP_PRIVATE) are read on demand, not ahead.
        connection.max_readahead = 0
        // The kernel counts asynchronous reads and writes, reads for its page cache and closed files together; beyond the limit
        // they queue, those of all files. Each may wait for a disk and occupy a thread, so all others get half of these.
        connection.max_background = UInt32(WorkerPool.maximumThreads / 2)
        connection.congestion_threshold = UInt32(WorkerPool.maximumThreads / 2)
    }
}
