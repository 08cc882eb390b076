import Synchronization

extension KeyRing {
    /// Calls `body` at once with the state as it is, then after each unlock, also one of what was unlocked already, and after
    /// each lock; for the rest of the ring's life. What is told last is so.
    ///
    /// On the thread that unlocked or locked: `body` must neither wait nor call the ring.
    package func watch(_ body: @escaping @Sendable (LockState) -> Void) {
        transition.withLock { _ in
            watchers.withLock { $0.append(body) }
            body(state)
        }
    }

    /// Within ``transition``: two who change the state tell it in that order.
    func notifyObservers() {
        let state = state
        for body in watchers.withLock({ $0 }) { body(state) }
    }
}
