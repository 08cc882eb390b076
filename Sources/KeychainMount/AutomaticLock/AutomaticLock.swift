import Keychain
import KeychainTree
import LinuxSupport
import Logging
import Synchronization
import SystemPackage

/// The thread that locks a mounted keychain when its ``LockPolicy`` says so.
///
/// It sleeps until the next deadline. A use only moves the deadline, and costs its caller no more than a store: the thread
/// looks at it when the old one has come.
final class AutomaticLock: Sendable {
    private struct State {
        /// Nil while locked.
        var unlocked: Duration?
        var hasEnded = false
    }

    let policy: LockPolicy
    private let keychain: KeychainStore
    private let lastUse: @Sendable () -> Duration
    private let lock: @Sendable (LockPolicy.Reason) -> Void
    private let alarm: WakeupTimer
    private let state = Mutex(State())

    /// `lock` is called on a thread of its own, and returns when the keychain is locked and the kernel has forgotten.
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

    /// Runs until ``end()``, if the policy has anything for it. Throws EAGAIN without a thread.
    func start() throws(Errno) {
        guard policy.hasTimes else { return }
        keychain.keys.watch { [weak self] in self?.note($0) }
        try BackgroundThread.start(stack: .large) { [self] in run() }
    }

    /// Before the keychain is closed. A lock that is under way may still end.
    func end() {
        state.withLock { $0.hasEnded = true }
        alarm.wake()
    }

    /// When it will lock; nil while it is locked or nothing is set.
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
            // Whoever has unlocked it meanwhile has all the time again.
            state.withLock { if $0.unlocked == unlocked { $0.unlocked = nil } }
        }
    }
}
