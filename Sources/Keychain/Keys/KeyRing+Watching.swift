import Synchronization

extension KeyRing {
    /// Calls `body` after each unlock, also one of what was unlocked already, and after each lock; for the rest of the
    /// ring's life.
    ///
    /// On the thread that unlocked or locked: `body` must neither wait nor call the ring.
    package func watch(_ body: @escaping @Sendable (LockState) -> Void) {
        watchers.withLock { $0.append(body) }
    }

    func tellWatchers(_ state: LockState) {
        for body in watchers.withLock({ $0 }) { body(state) }
    }
}
