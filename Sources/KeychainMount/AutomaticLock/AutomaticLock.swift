import Keychain
import KeychainTree
import LinuxSupport
import Logging
import Synchronization
import SystemPackage

/// The thread that locks a mounted keychain according to its ``LockPolicy``.
///
/// It sleeps until the next deadline. A use only moves the deadline, and costs its caller one store: the thread
/// evaluates it when the old deadline has passed.
final class AutomaticLock: Sendable {
    private struct State {
        /// The time of the unlock; nil while locked.
        var unlocked: Duration?
        var hasEnded = false
    }

    let policy: LockPolicy
    private let keychain: KeychainStore
    private let lastUse: @Sendable () -> Duration
    private let lock: @Sendable (LockPolicy.Reason) -> Void
    private let alarm: WakeupTimer
    private let state = Mutex(State())

    /// - Parameter lock: Called on a separate thread. Returns when the keychain is locked and the kernel's caches are
    ///   invalid.
    init(
        _ policy: LockPolicy, of keychain: KeychainStore, lastUse: @escaping @Sendable () -> Duration,
        lock: @escaping @Sendable (LockPolicy.Reason) -> Void
    ) throws(Errno) {
        self.policy = policy
        self.keychain = keychain
        self.lastUse = lastUse
        self.lock = lock
        alarm = try WakeupTimer()
    }

    /// Starts the thread, unless the policy never applies. It runs until ``end()``.
    ///
    /// - Throws: EAGAIN if the system cannot create a thread.
    func start() throws(Errno) {
        guard policy.hasTimes else { return }
        keychain.keys.watch { [weak self] in self?.note($0) }
        try BackgroundThread.start(stack: .large) { [self] in run() }
    }

    /// Ends the thread, before the keychain is closed. A lock in progress may still end afterwards.
    func end() {
        state.withLock { $0.hasEnded = true }
        alarm.wake()
    }

    /// The time of the next lock; nil while it is locked, or if no lock is due.
    var deadline: (moment: Duration, reason: LockPolicy.Reason)? {
        state.withLock { $0.unlocked }.flatMap { policy.deadline(unlocked: $0, lastUse: lastUse()) }
    }

    private func note(_ lockState: LockState) {
        state.withLock { $0.unlocked = lockState == .unlocked ? WakeupTimer.now : nil }
        alarm.wake()
    }

    private func run() {
        while !state.withLock({ $0.hasEnded }) {
            let unlocked = state.withLock { $0.unlocked }
            let deadline = unlocked.flatMap { policy.deadline(unlocked: $0, lastUse: lastUse()) }
            guard let deadline, deadline.moment <= WakeupTimer.now else {
                alarm.wait(until: deadline?.moment)
                continue
            }
            lock(deadline.reason)
            // An unlock in the meantime starts a new period.
            state.withLock { if $0.unlocked == unlocked { $0.unlocked = nil } }
        }
    }
}
