public import FileSystemCore
import Synchronization
import SystemPackage

/// The one thread that tells the kernel what has changed. It serves no request and holds no lock.
///
/// `inval_entry` waits in the kernel for the directory's lock, which the operations that are under way in it hold: sent
/// from a handler it would wait for that handler's own answer. So answers that notifications precede go this way too.
public final class Notifier: KernelNotifier, Sendable {
    private struct Job: Sendable {
        let notifications: [FileSystemCore.Notification]
        let finish: @Sendable () -> Void
    }

    private struct State {
        var jobs: [Job] = []
        var isRunning = false
        /// The thread has sent everything.
        var isDone = true
    }

    private let state = Monitor(State())
    private let sender = Mutex<NotificationSender?>(nil)
    private let thread = Mutex<WorkerThread?>(nil)
    /// The minor version of the kernel's protocol; 0 before INIT, when the kernel can remember nothing.
    private let kernelMinor = Atomic<UInt32>(0)
    private let newestProtocolMinor: UInt32

    /// Sends nothing that is newer than a minor version of the protocol.
    init(newestProtocolMinor: UInt32) { self.newestProtocolMinor = newestProtocolMinor }

    /// INIT has come.
    func start(kernelMinor minor: UInt32) { kernelMinor.store(min(minor, newestProtocolMinor), ordering: .releasing) }

    /// Begins to send through `channel`; `wipeStacks` is what ``Notification/wipeStacks`` does.
    func start(_ channel: Channel, wipeStacks: @escaping @Sendable () -> Void) throws(Errno) {
        state.with { state in
            state.isRunning = true
            state.isDone = false
        }
        sender.withLock { $0 = NotificationSender(channel: channel) }
        do throws(Errno) {
            let new = try WorkerThread { [self] in
                run(NotificationSender(channel: channel), wipeStacks)
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

    /// Takes no more and sends what is left; false if that is not done after so many seconds.
    func stop(seconds: Int) -> Bool {
        state.with(wakesAll: true) { $0.isRunning = false }
        return state.wait(milliseconds: seconds * 1000) { $0.isDone ? () : nil } != nil
    }

    /// After ``stop(seconds:)``: returns when the thread has ended.
    func join() {
        let ending = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        ending?.join()
        sender.withLock { $0 = nil }
    }

    /// Tells the kernel what a request has brought, and answers in between.
    ///
    /// At once where nothing of it waits for a lock: an answer must not queue behind an `inval_entry` that waits.
    func deliver(_ notifications: Notifications, sendReply: @escaping @Sendable () -> Void) {
        if notifications.before.isEmpty || sendImmediately(notifications.before) {
            sendReply()
        } else {
            enqueue(notifications.before, finish: sendReply)
        }
        if !notifications.after.isEmpty { enqueue(notifications.after) {} }
    }

    /// False, and nothing is sent, if any of them may wait.
    private func sendImmediately(_ notifications: [FileSystemCore.Notification]) -> Bool {
        let minor = kernelMinor.load(ordering: .acquiring)
        let isImmediate = notifications.allSatisfy { if case .allEntries = $0 { true } else { false } }
        guard isImmediate, minor >= NotificationSender.epochMinor, let sender = sender.withLock({ $0 }) else {
            return false
        }
        sender.send(notifications, kernelMinor: minor)
        return true
    }

    /// Returns when all have been sent; at once if no session runs.
    public func send(_ notifications: [FileSystemCore.Notification]) {
        guard !notifications.isEmpty else { return }
        let done = Monitor(false)
        enqueue(notifications) { done.with(wakesAll: true) { $0 = true } }
        done.wait { $0 ? () : nil }
    }

    /// Sends `notifications`, then calls `finish` once, on this thread; if no session runs, only that, at once.
    func enqueue(_ notifications: [FileSystemCore.Notification], finish: @escaping @Sendable () -> Void) {
        let isAccepted = state.with(wakesAll: true) { state in
            if state.isRunning { state.jobs.append(Job(notifications: notifications, finish: finish)) }
            return state.isRunning
        }
        if !isAccepted { finish() }
    }

    private func run(_ sender: NotificationSender, _ wipeStacks: () -> Void) {
        while let jobs = nextJobs() {
            for job in jobs {
                let minor = kernelMinor.load(ordering: .acquiring)
                if minor != 0 { sender.send(job.notifications, kernelMinor: minor) }
                if job.notifications.contains(where: { if case .wipeStacks = $0 { true } else { false } }) {
                    wipeStacks()
                }
                job.finish()
            }
        }
    }

    /// Nil at the end, when nothing is left.
    private func nextJobs() -> [Job]? {
        state.wait { state -> [Job]?? in
            if state.jobs.isEmpty { return state.isRunning ? nil : .some(nil) }
            defer { state.jobs = [] }
            return state.jobs
        }
    }
}
