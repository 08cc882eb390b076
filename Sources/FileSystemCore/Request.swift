/// Who asks: the ids that the kernel vouches for (`struct fuse_ctx`).
public struct Caller: Hashable, Sendable {
    public var userID: UInt32
    public var groupID: UInt32
    /// The calling thread; 0 where it lives in a pid namespace that this process cannot see.
    public var processID: Int32

    public init(userID: UInt32, groupID: UInt32, processID: Int32) {
        self.userID = userID
        self.groupID = groupID
        self.processID = processID
    }
}

/// One request on its way through a file system.
public struct Request: ~Copyable {
    public let caller: Caller
    /// What the kernel must be told before the caller gets its answer, in this order.
    ///
    /// Whoever runs the file system sends them from a thread that serves no request, and answers after that.
    public var notificationsBeforeReply: [Notification] = []
    /// What the kernel is told when the caller has its answer: anything that may wait for a lock which somebody holds who
    /// waits for the caller.
    public var notificationsAfterReply: [Notification] = []
    private let interrupted: @Sendable () -> Bool
    private let blockingHandler: @Sendable () -> Void
    private let releasing: @Sendable () -> Void

    /// - Parameters:
    ///   - interrupted: Whether a signal has interrupted the caller, which no longer waits.
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

    /// Whether the caller has been interrupted (FUSE_INTERRUPT); long work should end with EINTR.
    public var isInterrupted: Bool { interrupted() }

    /// What follows takes long, or waits: another thread is to receive meanwhile. To be called by the thread that serves
    /// the request; once is enough, where the lead has been handed on already it does nothing.
    public func willBlock() { blockingHandler() }

    /// Wipes the message of the request and lets others use its memory, before a wait. To be called by the thread that serves the
    /// request; a second call has no effect.
    ///
    /// - Precondition: The handler no longer uses bytes that the message contains: data that is written, the value of an attribute.
    public func releaseMessage() { releasing() }
}

/// A directory's node and a name in it.
public struct EntryReference: Hashable, Sendable {
    public var parent: NodeID
    public var name: EntryName

    public init(parent: NodeID, name: EntryName) {
        self.parent = parent
        self.name = name
    }
}

/// What has changed behind the kernel's back.
public enum Notification: Sendable {
    /// Forget the cached attributes of a node, and its cached pages if `pages` is set (FUSE_NOTIFY_INVAL_INODE).
    case inode(NodeID, pages: Bool)
    /// The same for many nodes.
    case inodes(NodeSet, pages: Bool)
    /// Forget what a name stands for (FUSE_NOTIFY_INVAL_ENTRY).
    ///
    /// To be avoided where ``allEntries(fallback:)`` serves: a process that is killed while it waits for that lock keeps the
    /// connection open, and everybody on the mount waits with it.
    ///
    /// Takes the directory's lock in the kernel: waits for every operation that is under way in it. Never before the
    /// answer of a request that holds a file's lock (setxattr, setattr, write): unlink and rename take the directory's
    /// lock first and then wait for the file's, so that all three would wait for ever.
    case entry(EntryReference)
    /// Ask again for every name (FUSE_NOTIFY_INC_EPOCH, Linux 6.16): takes no lock. On older kernels each name of
    /// `fallback` instead.
    case allEntries(fallback: @Sendable () -> [EntryReference])
    /// Nothing for the kernel: whoever serves requests overwrites what finished calls have left on their stacks.
    case wipeStacks
}

/// Sends notifications that no request has caused.
public protocol KernelNotifier: Sendable {
    /// Returns when all have been sent; must not be called by a thread that serves a request or holds a lock.
    func send(_ notifications: [Notification])
}
