public import FileSystemCore
import LinuxSupport
import Synchronization
import SystemPackage

/// The thread that sends notifications to the kernel. It serves no request and holds no lock.
///
/// `inval_entry` waits in the kernel for the directory's lock, which operations in progress in the directory hold. A
/// handler that sent it would wait for its own reply. Replies that follow notifications are therefore sent by this
/// thread, too.
public final class Notifier: KernelNotifier, Sendable {
    private struct Job: Sendable {
        let notifications: [FileSystemCore.Notification]
        let finish: @Sendable () -> Void
    }

    private struct State {
        var jobs: [Job] = []
        var isRunning = false
        /// Whether the thread has sent everything.
        var isDone = true
        /// The number of other threads that are sending.
        var otherCount = 0

        var hasEnded: Bool { isDone && otherCount == 0 }
    }

    private let state = Monitor(State())
    private let output = Mutex<NotificationOutput?>(nil)
    private let thread = Mutex<BackgroundThread?>(nil)
    /// The minor version of the kernel's protocol; 0 before INIT, when the kernel cannot have cached anything.
    private let kernelMinor = Atomic<UInt32>(0)
    private let newestProtocolMinor: UInt32

    /// Creates a notifier that sends nothing newer than a minor version of the protocol.
    init(newestProtocolMinor: UInt32) { self.newestProtocolMinor = newestProtocolMinor }

    /// Called when INIT has been received.
    func start(kernelMinor minor: UInt32) { kernelMinor.store(min(minor, newestProtocolMinor), ordering: .releasing) }

    /// Starts the thread, which sends through `channel`.
    ///
    /// - Parameter wipeStacks: The effect of ``Notification/wipeStacks``.
    func start(_ channel: Channel, wipeStacks: @escaping @Sendable () -> Void) throws(Errno) {
        state.with { state in
            state.isRunning = true
            state.isDone = false
        }
        let output = NotificationOutput(sender: NotificationSender(channel: channel), wipeStacks: wipeStacks)
        self.output.withLock { $0 = output }
        do throws(Errno) {
            let new = try BackgroundThread(stack: .large) { [self] in
                run(output)
                state.with(wakesAll: true) { $0.isDone = true }
            }
            thread.withLock { $0 = new }
        } catch {
            state.with { state in
                state.isRunning = false
                state.isDone = true
            }
            throw error
        }
    }

    /// Refuses further notifications and sends the queued ones. Returns false if that takes longer than `milliseconds`.
    func stop(milliseconds: Int) -> Bool {
        state.with(wakesAll: true) { $0.isRunning = false }
        return state.wait(milliseconds: milliseconds) { $0.hasEnded ? () : nil } != nil
    }

    /// Waits for the exit of the thread, and for others that are sending. Called after ``stop(milliseconds:)``. Returns
    /// false after `milliseconds`: a notification waits in the kernel.
    func join(milliseconds: Int) -> Bool {
        guard state.wait(milliseconds: milliseconds, { $0.hasEnded ? () : nil }) != nil else { return false }
        takeThread()?.join()
        output.withLock { $0 = nil }
        return true
    }

    /// Gives up the thread, which nothing waits for any more.
    func detachThread() { takeThread()?.detach() }

    private func takeThread() -> BackgroundThread? {
        thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
    }

    /// Sends the notifications of a request around its reply.
    ///
    /// Sends them immediately if none of them waits for a lock: a reply must not queue behind an `inval_entry` that
    /// waits.
    func deliver(_ notifications: Notifications, sendReply: @escaping @Sendable () -> Void) {
        if notifications.before.isEmpty || sendImmediately(notifications.before) {
            sendReply()
        } else {
            enqueue(notifications.before, finish: sendReply)
        }
        if !notifications.after.isEmpty { enqueue(notifications.after) {} }
    }

    /// Sends the notifications, unless one of them may wait. Returns whether they were sent.
    private func sendImmediately(_ notifications: [FileSystemCore.Notification]) -> Bool {
        let minor = kernelMinor.load(ordering: .acquiring)
        let isImmediate = notifications.allSatisfy { if case .allEntries = $0 { true } else { false } }
        guard isImmediate, minor >= NotificationSender.epochMinor, let output = output.withLock({ $0 }) else {
            return false
        }
        output.send(notifications, kernelMinor: minor)
        return true
    }

    /// Sends notifications and returns when all have been sent; immediately if no session runs.
    public func send(_ notifications: [FileSystemCore.Notification]) {
        guard !notifications.isEmpty else { return }
        let done = Monitor(false)
        enqueue(notifications) { done.with(wakesAll: true) { $0 = true } }
        done.wait { $0 ? () : nil }
    }

    /// Queues `notifications`, and calls `finish` once on another thread when they have been sent. If no session
    /// runs, calls `finish` immediately.
    func enqueue(_ notifications: [FileSystemCore.Notification], finish: @escaping @Sendable () -> Void) {
        if notifications.contains(where: { if case .later = $0 { true } else { false } }) {
            return sendSeparately(notifications, finish: finish)
        }
        let isAccepted = state.with(wakesAll: true) { state in
            if state.isRunning { state.jobs.append(Job(notifications: notifications, finish: finish)) }
            return state.isRunning
        }
        if !isAccepted { finish() }
    }

    private func run(_ output: NotificationOutput) {
        while let jobs = nextJobs() {
            for job in jobs {
                output.send(job.notifications, kernelMinor: kernelMinor.load(ordering: .acquiring))
                job.finish()
            }
        }
    }

    /// Waits for the next jobs. Returns nil after the last one.
    private func nextJobs() -> [Job]? {
        state.wait { state -> [Job]?? in
            if state.jobs.isEmpty { return state.isRunning ? nil : .some(nil) }
            defer { state.jobs = [] }
            return state.jobs
        }
    }

    // MARK: Other threads

    /// Sends a list with ``Notification/later(_:)`` on a separate thread, because another notification may wait for a disk.
    private func sendSeparately(
        _ notifications: [FileSystemCore.Notification], finish: @escaping @Sendable () -> Void
    ) {
        guard beginSending() else { return finish() }
        Self.onThread { [self] in
            sendWithLimit(notifications)
            ProcessMemory.wipeStack()
            finish()
            endSending()
        }
    }

    /// Sends notifications. Returns when all have been sent, or after the limits of ``LaterNotifications``.
    func sendWithLimit(_ notifications: [FileSystemCore.Notification]) {
        guard !notifications.isEmpty else { return }
        LaterNotifications(notifications, kernelMinor: kernelMinor.load(ordering: .acquiring)).send { [self] in
            use($0)
        }
    }

    /// Runs `body` on a new thread; on this one if it cannot be created.
    static func onThread(_ body: @escaping @Sendable () -> Void) {
        do throws(Errno) { try BackgroundThread.start(stack: .large, body) } catch { body() }
    }

    /// Runs `body`, unless the session has ended.
    private func use(_ body: (NotificationOutput) -> Void) {
        guard beginSending() else { return }
        defer { endSending() }
        if let output = output.withLock({ $0 }) { body(output) }
    }

    /// Returns false at the end of the session.
    private func beginSending() -> Bool {
        state.with { state in
            if state.isRunning { state.otherCount += 1 }
            return state.isRunning
        }
    }

    private func endSending() {
        state.with(wakesAll: true) { $0.otherCount -= 1 }
    }
}
