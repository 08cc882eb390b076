public import SystemPackage

/// A file system as libfuse's low-level API sees it: the port between a mount and what it shows.
///
/// Synchronous, called by several threads at once. Every method either returns what the caller asked for or throws the
/// errno that it shall see; the source for each is the operation of the same name in `fuse_lowlevel.h`. Buffers passed
/// in are borrowed for the call. What a method puts into `request.notifications` reaches the kernel before the answer.
public protocol FileSystem: Sendable {
    /// Finds `name` in `parent`. A `.found` result adds one to the node's lookup count.
    func lookup(_ request: inout Request, parent: NodeID, name: EntryName) throws(Errno) -> LookupResult
    /// Takes `count` off the node's lookup count; at zero the kernel will not name the node again.
    func forget(_ node: NodeID, count: UInt64)
    func getattr(_ request: inout Request, node: NodeID, handle: HandleID?) throws(Errno) -> TimedAttributes
    func setattr(_ request: inout Request, node: NodeID, changes: AttributeChanges) throws(Errno) -> TimedAttributes
    /// Makes a node of a type other than a directory; `permissions` are already masked with the caller's umask.
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

    /// Makes and opens a file; the entry counts as a lookup.
    func create(
        _ request: inout Request, parent: NodeID, name: EntryName, permissions: UInt32, flags: OpenFlags
    ) throws(Errno) -> (Entry, OpenFileInfo)
    func open(_ request: inout Request, node: NodeID, flags: OpenFlags) throws(Errno) -> OpenFileInfo
    /// Calls `body` once with at most `size` bytes from `offset`: fewer only at the end of the file.
    ///
    /// `owner` is nil when the kernel reads for its page cache (sendfile, splice, private mappings), which keeps the bytes
    /// until it is told otherwise. The bytes are valid during the call only. No lock may be held while `body` runs.
    func read(
        _ request: inout Request, node: NodeID, handle: HandleID, offset: UInt64, size: Int, owner: LockOwner?,
        body: (inout Request, RawSpan) -> Void
    ) throws(Errno)
    /// Returns how many bytes were taken.
    ///
    /// `flags` are those of this write: fcntl(2) may have changed O_APPEND since the open, and pwritev2(2) with RWF_DSYNC
    /// or RWF_SYNC sets O_DSYNC or O_SYNC for one write. With O_APPEND, `offset` is what the kernel takes for the end.
    func write(
        _ request: inout Request, node: NodeID, handle: HandleID, offset: UInt64, data: RawSpan, owner: LockOwner,
        flags: OpenFlags
    ) throws(Errno) -> Int
    /// A descriptor (one of perhaps many duplicates) is being closed.
    func flush(_ request: inout Request, node: NodeID, handle: HandleID, owner: LockOwner) throws(Errno)
    func fsync(_ request: inout Request, node: NodeID, handle: HandleID, dataOnly: Bool) throws(Errno)
    /// The last descriptor is gone. Nobody waits for the result.
    func release(_ request: inout Request, node: NodeID, handle: HandleID)
    func copyFileRange(
        _ request: inout Request, from: NodeID, fromHandle: HandleID, fromOffset: UInt64, to: NodeID,
        toHandle: HandleID, toOffset: UInt64, size: Int, owner: LockOwner
    ) throws(Errno) -> Int

    func opendir(_ request: inout Request, node: NodeID) throws(Errno) -> HandleID
    /// Adds the entries that follow `offset` (0: from the beginning) until `sink` is full or the directory ends.
    ///
    /// Throwing after some entries were added gives these, and the error to the next call.
    func readdir(
        _ request: inout Request, node: NodeID, handle: HandleID, offset: UInt64, into sink: inout some DirectorySink
    ) throws(Errno)
    func releasedir(_ request: inout Request, node: NodeID, handle: HandleID)
    func fsyncdir(_ request: inout Request, node: NodeID, handle: HandleID, dataOnly: Bool) throws(Errno)
    func statfs(_ request: inout Request, node: NodeID) throws(Errno) -> FileSystemStatistics
    func access(_ request: inout Request, node: NodeID, mask: Int32) throws(Errno)

    /// Names are bytes without a terminating NUL, with their namespace: `user.color`.
    func setxattr(
        _ request: inout Request, node: NodeID, name: [UInt8], value: RawSpan, flags: XattrFlags
    ) throws(Errno)
    func getxattr(_ request: inout Request, node: NodeID, name: [UInt8]) throws(Errno) -> [UInt8]
    func listxattr(_ request: inout Request, node: NodeID) throws(Errno) -> [[UInt8]]
    func removexattr(_ request: inout Request, node: NodeID, name: [UInt8]) throws(Errno)

    /// The session has ended; nothing is called after this.
    func destroy()
}

/// What a file system need not have.
///
/// ENOSYS tells the kernel never to ask again, so it stands only where that is meant.
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
