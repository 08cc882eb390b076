import LinuxSupport
import SystemPackage

/// The threads of a session. One, the receiver, receives requests; the others serve requests that may block, or are
/// idle.
///
/// Idle threads wait here and not in the device, so that a message always wakes the thread that ran last. The receiver
/// serves most requests itself. It queues a request that may block for another thread. If no other thread serves a
/// request, it yields the receiver role to an idle or new thread and serves the request itself, because it is awake.
///
/// At most ``limit`` threads serve requests of the queue. The rest of the queue waits, and the receiver continues to
/// receive. A handler that yields the receiver role always finds another thread for it, up to ``maximumThreads``.
final class WorkerPool: Sendable {
    /// A message that one thread has received and another one serves.
    struct Message: Sendable {
        let lease: MessageBufferPool.Lease
        /// The pool to which the lease is returned.
        let buffers: MessageBufferPool
    }

    /// The reason why an idle thread wakes.
    enum Task {
        case receive
        case serve(Message)
        case exit
    }

    /// The maximum number of all threads. Requests that wait for an item keep theirs; with this many, no request is received.
    static let maximumThreads = 1024

    private struct State {
        var hasReceiver = false
        var queue: [Message] = []
        /// The number of threads that serve a request of the queue, or a request for which the receiver has yielded its
        /// role.
        var serving = 0
        var hasEnded = false
        var running = 0
        var parked = 0
        var threads: [BackgroundThread] = []
        /// Whether the last attempt to create a thread has failed, which the log reports.
        var threadCreationFailed = false

        /// Returns the number of idle threads that the queue needs.
        func takers(_ limit: Int) -> Int { min(queue.count, max(0, limit - serving)) }
    }

    /// The number of threads that stay idle while the session runs.
    private static let idleThreadsKept = 4
    /// The time after which other idle threads exit, in milliseconds.
    private static let idleTimeout = 5000

    /// The end of the pool. Not in ``State``, whose condition is for idle threads only: see ``Monitor/wakeOne()``.
    private struct Ending {
        var hasBegun = false
        /// The number of threads that have not exited.
        var threads = 0
    }

    private let state = Monitor(State())
    private let ending = Monitor(Ending())
    private let limit: Int
    private let body: @Sendable (WorkerPool) -> Void

    /// Creates a pool without threads.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of threads that serve requests that may block.
    ///   - body: The main function of each thread.
    init(limit: Int, body: @escaping @Sendable (WorkerPool) -> Void) {
        self.limit = min(max(limit, 1), Self.maximumThreads / 2)
        self.body = body
    }

    /// Starts the first thread.
    func start() throws(Errno) {
        state.with { $0.running += 1 }
        try startThread()
    }

    /// Waits for a call of ``end()``, which a receiver makes at the end of the connection.
    func waitForEnd() {
        ending.wait { $0.hasBegun || $0.threads == 0 ? () : nil }
    }

    /// Waits until all threads have exited. Returns false after `milliseconds`: a request waits for a disk.
    func join(milliseconds: Int) -> Bool {
        guard ending.wait(milliseconds: milliseconds, { $0.threads == 0 ? () : nil }) != nil else { return false }
        while let thread = state.with({ $0.threads.popLast() }) { thread.join() }
        return true
    }

    /// Gives up the threads, which nothing waits for any more.
    func detachThreads() {
        while let thread = state.with({ $0.threads.popLast() }) { thread.detach() }
    }

    /// Blocks until the calling thread has a task. Returns `exit` when the session has ended, or enough other threads
    /// are idle.
    ///
    /// - Parameters:
    ///   - hasServed: Whether the thread has completed a message of the queue, or one for which ``dispatch(_:)`` returned
    ///     false.
    ///   - tidy: Called before the thread blocks, and after each wakeup.
    func nextTask(hasServed: Bool, tidying tidy: () -> Void) -> Task {
        let isSpare = state.with { state in
            if hasServed { state.serving -= 1 }
            state.parked += 1
            return state.parked > Self.idleThreadsKept
        }
        guard isSpare else {
            return state.wait { state in
                tidy()
                return task(&state)
            }
        }
        let found = state.wait(milliseconds: Self.idleTimeout) { state in
            tidy()
            return task(&state)
        }
        return found ?? retireSurplus()
    }

    /// Returns the next task; nil if no task exists. Receiving comes first, because all other threads depend on the
    /// receiver.
    private func task(_ state: inout State) -> Task? {
        if !state.hasEnded, !state.hasReceiver {
            state.hasReceiver = true
            state.parked -= 1
            return .receive
        }
        if state.takers(limit) > 0 {
            state.serving += 1
            state.parked -= 1
            return .serve(state.queue.removeFirst())
        }
        guard state.hasEnded else { return nil }
        state.parked -= 1
        return .exit
    }

    /// Returns `exit` for the calling thread, unless it is needed in the meantime: it may have been woken last.
    private func retireSurplus() -> Task {
        state.with { state in
            if let task = task(&state) { return task }
            state.parked -= 1
            if let own = state.threads.firstIndex(where: \.isCurrent) { state.threads.remove(at: own).detach() }
            return .exit
        }
    }

    /// Queues a message for another thread, and wakes or creates one if fewer than the limit serve.
    ///
    /// - Returns: False if no other thread serves a request. The receiver must yield its role and serve the message
    ///   itself; it counts as one of the threads that serve requests that may block.
    func dispatch(_ message: Message) -> Bool {
        let (isQueued, isWanted, isMissing) = state.with { state -> (Bool, Bool, Bool) in
            // The receiver is one of the running threads.
            guard state.running - state.parked > 1 else {
                state.serving += 1
                return (false, false, false)
            }
            let before = state.takers(limit)
            state.queue.append(message)
            guard state.takers(limit) > before else { return (true, false, false) }
            let isMissing = state.parked <= before && state.running < Self.maximumThreads
            if isMissing { state.running += 1 }
            return (true, true, isMissing)
        }
        if isMissing {
            // If that fails, the next thread that completes its request serves the message.
            startAdditionalThread()
        } else if isWanted {
            state.wakeOne()
        }
        return isQueued
    }

    /// Assigns the receiver role to another thread, because the receiver is about to block.
    func promoteNextReceiver() {
        let isMissing = state.with { state in
            state.hasReceiver = false
            // The other idle threads are about to serve queued messages.
            guard state.parked <= state.takers(limit), state.running < Self.maximumThreads else { return false }
            state.running += 1
            return true
        }
        // If no thread can be created, the next thread that completes its request receives.
        if isMissing { startAdditionalThread() } else { state.wakeOne() }
    }

    private func startAdditionalThread() {
        do throws(Errno) {
            try startThread()
            state.with { $0.threadCreationFailed = false }
        } catch {
            let isKnown = state.with { state in
                defer { state.threadCreationFailed = true }
                return state.threadCreationFailed
            }
            if !isKnown { FuseLog.write(.warning, "no further thread: \(error)") }
        }
    }

    /// Wakes all idle threads, to tidy up.
    func wakeIdle() {
        state.with(wakesAll: true) { _ in }
    }

    /// Ends the pool when nothing more is received: all threads exit when the queue is empty.
    func end() {
        state.with(wakesAll: true) { $0.hasEnded = true }
        ending.with(wakesAll: true) { $0.hasBegun = true }
    }

    private func startThread() throws(Errno) {
        ending.with { $0.threads += 1 }
        do throws(Errno) {
            // Handlers and the wipe of the stack must fit.
            let thread = try BackgroundThread(stack: .large) { [self] in
                body(self)
                endThread()
            }
            state.with { $0.threads.append(thread) }
        } catch {
            endThread()
            throw error
        }
    }

    private func endThread() {
        state.with { $0.running -= 1 }
        ending.with(wakesAll: true) { $0.threads -= 1 }
    }
}
