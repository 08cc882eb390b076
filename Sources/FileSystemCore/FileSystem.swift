public import SystemPackage

/// A file system with the operations of libfuse's low-level API, independent of libfuse.
///
/// Methods are synchronous and called by several threads concurrently. Each returns the result or throws the errno that
/// the caller of the system call receives. The source of each is the operation of that name in `fuse_lowlevel.h`.
/// Buffers are borrowed for the call. Notifications that a method adds to `request.notificationsBeforeReply` reach the
/// kernel before the reply.
public protocol FileSystem: Sendable {
    /// Finds `name` in `parent`. A `.found` result increments the node's lookup count.
    func lookup(_ request: inout Request, parent: NodeID, name: EntryName) throws(Errno) -> LookupResult
    /// Decrements the node's lookup count by `count`. At zero the kernel no longer uses the node ID.
    func forget(_ node: NodeID, count: UInt64)
    func getattr(_ request: inout Request, node: NodeID, handle: HandleID?) throws(Errno) -> TimedAttributes
    func setattr(_ request: inout Request, node: NodeID, changes: AttributeChanges) throws(Errno) -> TimedAttributes
    /// Creates a node that is not a directory. The caller's umask is applied to `permissions` already.
    func mknod(
        _ request: inout Request, parent: NodeID, name: EntryName, type: FileType, permissions: UInt32
    ) throws(Errno) -> Entry
    func mkdir(_ request: inout Request, parent: NodeID, name: EntryName, permissions: UInt32) throws(Errno) -> Entry
    func symlink(_ request: inout Request, parent: NodeID, name: EntryName, target: [UInt8]) throws(Errno) -> Entry
    func link(_ request: inout Request, node: NodeID, newParent: NodeID, newName: EntryName) throws(Errno) -> Entry
    func unlink(_ request: inout Request, parent: NodeID, name: EntryName) throws(Errno)
    func rmdir(_ request: inout Request, parent: NodeID, name: EntryName) throws(Errno)
    func rename(
        _ request: inout Request, parent: NodeID, name: EntryName, newParent: NodeID, newName: EntryName,
        flags: RenameFlags
    ) throws(Errno)

    /// Creates and opens a file. The entry counts as a lookup.
    func create(
        _ request: inout Request, parent: NodeID, name: EntryName, permissions: UInt32, flags: OpenFlags
    ) throws(Errno) -> (Entry, OpenFileInfo)
    func open(_ request: inout Request, node: NodeID, flags: OpenFlags) throws(Errno) -> OpenFileInfo
    /// Calls `body` once with at most `size` bytes from `offset`. Fewer are returned only at the end of the file.
    ///
    /// `owner` is nil if the kernel reads for its page cache (sendfile, splice, private mappings), which retains the
    /// bytes until a notification invalidates them. The bytes are valid only during the call. The file system must not
    /// hold a lock while `body` runs.
    func read(
        _ request: inout Request, node: NodeID, handle: HandleID, offset: UInt64, size: Int, owner: LockOwner?,
        body: (inout Request, RawSpan) -> Void
    ) throws(Errno)
    /// Returns the number of bytes written.
    ///
    /// `flags` apply to this write: fcntl(2) may have changed O_APPEND since the open, and pwritev2(2) with RWF_DSYNC
    /// or RWF_SYNC sets O_DSYNC or O_SYNC for one write. With O_APPEND, `offset` is the end of the file as far as the
    /// kernel knows.
    func write(
        _ request: inout Request, node: NodeID, handle: HandleID, offset: UInt64, data: RawSpan, owner: LockOwner,
        flags: OpenFlags
    ) throws(Errno) -> Int
    /// Called when one of possibly many duplicates of a descriptor is closed.
    func flush(_ request: inout Request, node: NodeID, handle: HandleID, owner: LockOwner) throws(Errno)
    func fsync(_ request: inout Request, node: NodeID, handle: HandleID, dataOnly: Bool) throws(Errno)
    /// Called when the last descriptor has been closed. No caller waits for the result.
    func release(_ request: inout Request, node: NodeID, handle: HandleID)
    func copyFileRange(
        _ request: inout Request, from: NodeID, fromHandle: HandleID, fromOffset: UInt64, to: NodeID,
        toHandle: HandleID, toOffset: UInt64, size: Int, owner: LockOwner
    ) throws(Errno) -> Int

    func opendir(_ request: inout Request, node: NodeID) throws(Errno) -> HandleID
    /// Adds the entries after `offset` (0: from the start) until `sink` is full or the directory ends.
    ///
    /// If it throws after entries were added, the caller receives these, and the error with the next call.
    func readdir(
        _ request: inout Request, node: NodeID, handle: HandleID, offset: UInt64, into sink: inout some DirectorySink
    ) throws(Errno)
    func releasedir(_ request: inout Request, node: NodeID, handle: HandleID)
    func fsyncdir(_ request: inout Request, node: NodeID, handle: HandleID, dataOnly: Bool) throws(Errno)
    func statfs(_ request: inout Request, node: NodeID) throws(Errno) -> FileSystemStatistics
    func access(_ request: inout Request, node: NodeID, mask: Int32) throws(Errno)

    /// Names are bytes without a terminating NUL, and include the namespace: `user.color`.
    func setxattr(
        _ request: inout Request, node: NodeID, name: [UInt8], value: RawSpan, flags: XattrFlags
    ) throws(Errno)
    func getxattr(_ request: inout Request, node: NodeID, name: [UInt8]) throws(Errno) -> [UInt8]
    func listxattr(_ request: inout Request, node: NodeID) throws(Errno) -> [[UInt8]]
    func removexattr(_ request: inout Request, node: NodeID, name: [UInt8]) throws(Errno)

    /// Called when the session has ended. No other method is called afterwards.
    func destroy()
}

/// Default implementations of optional operations.
///
/// After ENOSYS the kernel never sends that request again, so it is used only where that is intended.
extension FileSystem {
    public func forget(_ node: NodeID, count: UInt64) {}
    public func symlink(
        _ request: inout Request, parent: NodeID, name: EntryName, target: [UInt8]
    ) throws(Errno) -> Entry { throw .notPermitted }
    public func link(
        _ request: inout Request, node: NodeID, newParent: NodeID, newName: EntryName
    ) throws(Errno) -> Entry { throw .notPermitted }
    public func copyFileRange(
        _ request: inout Request, from: NodeID, fromHandle: HandleID, fromOffset: UInt64, to: NodeID,
        toHandle: HandleID, toOffset: UInt64, size: Int, owner: LockOwner
    ) throws(Errno) -> Int { throw .notSupported }
    public func access(_ request: inout Request, node: NodeID, mask: Int32) throws(Errno) { throw .noFunction }
    public func destroy() {}
}
