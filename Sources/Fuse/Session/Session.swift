import CFuse3
public import FileSystemCore
public import LinuxSupport
import Synchronization
import SystemPackage

/// A session that serves a file system. It is created, then mounted or attached, then run once.
public final class Session: Sendable {
    private enum Phase {
        case new
        case attached(Channel, Mount?)
        case running(Channel, Mount?)
        case ended
    }

    private let options: SessionOptions
    private let handle: Mutex<SessionHandle?>
    private let phase = Mutex(Phase.new)
    private let dispatcher: Dispatcher
    private let threads = Mutex<Threads?>(nil)

    /// The threads that serve, while the session runs.
    private struct Threads {
        let loop: ReceiveLoop
        let workers: WorkerPool
    }

    /// Creates a session. The workers call `fileSystem` until ``run()`` returns; `destroy` is called once, at its end.
    public init(_ fileSystem: any FileSystem, options: SessionOptions) throws(FuseError) {
        self.options = options
        dispatcher = Dispatcher(fileSystem, newestProtocolMinor: options.newestProtocolMinor)
        handle = Mutex(try SessionHandle(dispatcher, options))
    }

    /// Sends notifications that do not belong to a request. Has no effect while the session does not run.
    public var notifier: any KernelNotifier { dispatcher.notifier }

    /// Whether all receive buffers are locked in memory; true before the first one exists.
    public var buffersAreLocked: Bool {
        threads.withLock { $0?.loop.buffersAreLocked ?? true }
    }

    /// The mount's ID in /proc/self/mountinfo, which stays the same when the mount is moved.
    public var mountIdentifier: Int? { mountEntry?.identifier }

    /// The mount's line in /proc/self/mountinfo when it was created; nil if it could not be read, and after the end.
    public var mountEntry: MountTable.Entry? {
        phase.withLock { phase in
            switch phase {
            case .attached(_, let mount), .running(_, let mount): mount?.entry
            case .new, .ended: nil
            }
        }
    }

    /// Mounts at the directory `path`, which must be absolute: as root with mount(2), otherwise through fusermount3.
    ///
    /// The kernel sends requests only after an access, so that ``run()`` may follow later.
    public func mount(at path: String) throws(FuseError) {
        try requireNew()
        let (descriptor, mount) = try Mount.make(at: path, options)
        do throws(FuseError) {
            try attach(descriptor, mount)
        } catch {
            try? mount.unmount(lazily: true)
            throw error
        }
    }

    /// Serves the protocol over `descriptor`, one end of a SOCK_SEQPACKET pair, and takes ownership of it. For tests.
    public func attach(to descriptor: Int32) throws(FuseError) {
        try requireNew()
        try attach(descriptor, nil)
    }

    /// Serves requests until the mount has ended, the other end is closed or ``exit(sending:)`` has been called.
    ///
    /// Then sends the remaining notifications and replies, destroys the file system, and unmounts if necessary. After 0.7
    /// s the connection is closed even if a request or a notification still waits, usually for a disk; after
    /// ``SessionEnd/threadLimit`` this returns although threads remain, without having destroyed the file system.
    @discardableResult
    public func run() throws(FuseError) -> SessionEnd {
        let (channel, mount) = try begin()
        let result: Result<SessionEnd, Errno> = Result { () throws(Errno) in try serve(channel, mount) }
        let isComplete = if case .success(let end) = result { end.isComplete } else { true }
        let isMounted = mount != nil && !channel.isDisconnected
        // Closes the descriptor: a mount that still exists is dead afterwards, so that unmounting it cannot block.
        if !isComplete { channel.disconnect() }
        end()
        if isComplete { dispatcher.fileSystem.destroy() }
        // A notification that waits keeps the connection: the mount may not be dead.
        if isMounted || isComplete && mount?.isDead == true { try? mount?.unmount(lazily: true) }
        do throws(Errno) { return try result.get() } catch { throw .system(error, call: "pthread_create") }
    }

    /// Runs the workers until the session ends.
    private func serve(_ channel: Channel, _ mount: Mount?) throws(Errno) -> SessionEnd {
        guard let session = handle.withLock({ $0 }) else { throw .badFileDescriptor }
        let stacks = StackWipe()
        let receive = ReceiveLoop(session, channel, options, stacks)
        let workers = WorkerPool(limit: options.workers) { receive.work($0) }
        threads.withLock { $0 = Threads(loop: receive, workers: workers) }
        let notifier = dispatcher.notifier
        try notifier.start(channel) {
            stacks.run {
                workers.wakeIdle()
                channel.wakeWaiter()
            }
        }
        do throws(Errno) {
            try workers.start()
        } catch {
            _ = notifier.stop(milliseconds: 1000) && notifier.join(milliseconds: 1000)
            throw error
        }
        workers.waitForEnd()
        return endThreads(workers, channel, mount)
    }

    /// Waits for the exit of the threads.
    private func endThreads(_ workers: WorkerPool, _ channel: Channel, _ mount: Mount?) -> SessionEnd {
        var end = SessionEnd()
        let notifier = dispatcher.notifier
        let isIdle = workers.join(milliseconds: SessionEnd.connectionLimit)
        // Without workers, the lock that a notification waits for in the kernel may never be released.
        if !notifier.stop(milliseconds: end.millisecondsLeft(of: SessionEnd.connectionLimit)) {
            _ = mount?.abort(channel)
        }
        if !isIdle || !notifier.join(milliseconds: 100) { channel.disconnect() }
        let areWorkersDone = workers.join(milliseconds: end.millisecondsLeft(of: SessionEnd.threadLimit))
        let isNotifierDone = notifier.join(milliseconds: end.millisecondsLeft(of: SessionEnd.threadLimit))
        if !areWorkersDone { workers.detachThreads() }
        if !isNotifierDone { notifier.detachThread() }
        end.isComplete = areWorkersDone && isNotifierDone
        return end
    }

    /// Ends ``run()`` regardless of open files, from any thread. Does not block.
    ///
    /// The workers serve until the notifier has finished, because it may wait for a lock whose holder waits for them.
    /// After a second the connection is aborted instead, if possible.
    ///
    /// - Parameter notifications: Sent before, which takes two seconds at most: others may wait in the kernel.
    public func exit(sending notifications: [FileSystemCore.Notification] = []) {
        do throws(Errno) {
            try BackgroundThread.start(stack: .large) { [self] in
                let notifier = dispatcher.notifier
                notifier.sendWithLimit(notifications)
                if !notifier.stop(milliseconds: 1000), !abort() { _ = notifier.stop(milliseconds: 9000) }
                endWorkers()
            }
        } catch {
            endWorkers()
        }
    }

    private func abort() -> Bool {
        let parts = phase.withLock { phase -> (Channel, Mount?)? in
            if case .running(let channel, let mount) = phase { (channel, mount) } else { nil }
        }
        guard let (channel, mount) = parts else { return false }
        return mount?.abort(channel) ?? false
    }

    private func endWorkers() {
        handle.withLock { handle in
            guard let handle else { return }
            unsafe fuse_session_exit(handle.pointer)
        }
        phase.withLock { phase in
            if case .running(let channel, _) = phase { channel.interrupt() }
            if case .attached(let channel, _) = phase { channel.interrupt() }
        }
        // All threads may be waiting, so that no receiver observes the end.
        threads.withLock { $0?.workers }?.end()
    }

    /// Unmounts, which ends ``run()``.
    ///
    /// With `lazily`, the mount is detached immediately and ends when the last file is closed.
    ///
    /// - Precondition: The calling thread serves no request.
    /// - Throws: ``FuseError/busy`` while files are open and `lazily` is false.
    public func unmount(lazily: Bool = false) throws(FuseError) {
        let mount = phase.withLock { phase -> Mount? in
            switch phase {
            case .attached(_, let mount), .running(_, let mount): mount
            case .new, .ended: nil
            }
        }
        guard let mount else { throw .notMounted }
        try mount.unmount(lazily: lazily)
    }

    /// Delegates the unmount to the watchdog, for a process that has renounced new privileges (``NewPrivileges``), from
    /// which fusermount3 would inherit that. The watchdog must watch this mount.
    public func delegateUnmount(to guarding: borrowing MountWatchdog) {
        let connection = guarding.connection
        phase.withLock { phase in
            switch phase {
            case .attached(_, let mount), .running(_, let mount): mount?.delegateUnmount(to: connection)
            case .new, .ended: break
            }
        }
    }

    private func requireNew() throws(FuseError) {
        guard phase.withLock({ if case .new = $0 { true } else { false } }) else { throw .wrongState }
    }

    private func attach(_ descriptor: Int32, _ mount: Mount?) throws(FuseError) {
        let channel = try Channel(descriptor: descriptor)
        guard let session = handle.withLock({ $0 }) else { throw .wrongState }
        try session.attach(channel)
        phase.withLock { $0 = .attached(channel, mount) }
    }

    private func begin() throws(FuseError) -> (Channel, Mount?) {
        let attached = phase.withLock { phase -> (Channel, Mount?)? in
            guard case .attached(let channel, let mount) = phase else { return nil }
            phase = .running(channel, mount)
            return (channel, mount)
        }
        guard let attached else { throw .wrongState }
        return attached
    }

    /// Frees libfuse's session.
    private func end() {
        phase.withLock { $0 = .ended }
        threads.withLock { $0 = nil }
        handle.withLock { $0 = nil }
    }
}
