/// The caller's identifiers, which the kernel guarantees (`struct fuse_ctx`).
public struct Caller: Hashable, Sendable {
    public var userID: UInt32
    public var groupID: UInt32
    /// The ID of the calling thread; 0 if it is in a PID namespace that this process cannot see.
    public var processID: Int32

    public init(userID: UInt32, groupID: UInt32, processID: Int32) {
        self.userID = userID
        self.groupID = groupID
        self.processID = processID
    }
}

/// A request of the kernel while a file system handles it.
public struct Request: ~Copyable {
    public let caller: Caller
    /// The notifications that the kernel must receive before the reply, in this order.
    ///
    /// They are sent on a thread that serves no request; the reply follows.
    public var notificationsBeforeReply: [Notification] = []
    /// The notifications that the kernel receives after the reply. For those that may wait for a lock whose holder
    /// waits for this caller.
    public var notificationsAfterReply: [Notification] = []
    private let interrupted: @Sendable () -> Bool
    private let blockingHandler: @Sendable () -> Void
    private let releasing: @Sendable () -> Void

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - interrupted: Returns whether a signal has interrupted the caller, which no longer waits.
    ///   - willBlock: The effect of ``willBlock()``, on the thread that serves the request.
    ///   - releasing: The effect of ``releaseMessage()``, on that thread.
    public init(
        caller: Caller, interrupted: @escaping @Sendable () -> Bool = { false },
        willBlock: @escaping @Sendable () -> Void = {}, releasing: @escaping @Sendable () -> Void = {}
    ) {
        self.caller = caller
        self.interrupted = interrupted
        self.blockingHandler = willBlock
        self.releasing = releasing
    }

    /// Whether the caller has been interrupted (FUSE_INTERRUPT). Long operations should then fail with EINTR.
    public var isInterrupted: Bool { interrupted() }

    /// Announces that the handler is about to block or to run for a long time, so that another thread receives further
    /// requests.
    ///
    /// Must be called on the thread that serves the request. Calls after the first have no effect.
    public func willBlock() { blockingHandler() }

    /// Wipes the message of the request and releases its memory before a wait.
    ///
    /// Must be called on the thread that serves the request. A second call has no effect.
    ///
    /// - Precondition: The handler no longer uses bytes of the message: data to write, the value of an attribute.
    public func releaseMessage() { releasing() }
}

/// A name in a directory.
public struct EntryReference: Hashable, Sendable {
    public var parent: NodeID
    public var name: EntryName

    public init(parent: NodeID, name: EntryName) {
        self.parent = parent
        self.name = name
    }
}

/// A change that the kernel has not made itself.
public enum Notification: Sendable {
    /// Invalidates the cached attributes of a node, and its cached pages if `pages` is set (FUSE_NOTIFY_INVAL_INODE).
    case inode(NodeID, pages: Bool)
    /// Invalidates the cached attributes of many nodes, and their cached pages if `pages` is set.
    case inodes(NodeSet, pages: Bool)
    /// Invalidates a name (FUSE_NOTIFY_INVAL_ENTRY).
    ///
    /// Prefer ``allEntries(fallback:)``: the kernel takes the directory's lock, which waits for every operation in
    /// progress in that directory. A process that is killed during that wait keeps the connection open, and all users
    /// of the mount wait with it.
    ///
    /// Must not be sent before the reply to a request for which the kernel holds a file's lock (setxattr, setattr,
    /// write). unlink(2) and rename(2) take the directory's lock first and then wait for the file's: a deadlock of all
    /// three.
    case entry(EntryReference)
    /// Invalidates all names (FUSE_NOTIFY_INC_EPOCH, Linux 6.16) without taking a lock. Older kernels receive one
    /// notification for each name of `fallback`.
    case allEntries(fallback: @Sendable () -> [EntryReference])
    /// Causes the workers to overwrite the remains of finished calls on their stacks.
    case wipeStacks
    /// Notifications that the closure returns, which may wait for a disk.
    ///
    /// Sent last, on another thread. The reply waits for them 20 ms at most, and 2 s at most for those of the same list that may
    /// wait in the kernel. The list queues behind no other notification.
    case later(@Sendable () -> [Notification])
}

/// Sends notifications that do not belong to a request.
public protocol KernelNotifier: Sendable {
    /// Sends notifications and returns when all have been sent.
    ///
    /// - Precondition: The calling thread serves no request and holds no lock.
    func send(_ notifications: [Notification])
}
