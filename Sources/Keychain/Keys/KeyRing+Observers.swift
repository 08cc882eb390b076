import Synchronization

extension KeyRing {
    /// Calls `body` immediately with the present state, then after each unlock, even of an unlocked keychain, and after
    /// each lock, during the lifetime of the ring. The last call contains the present state.
    ///
    /// Called on the thread that unlocks or locks: `body` must neither block nor call the ring.
    package func watch(_ body: @escaping @Sendable (LockState) -> Void) {
        transition.withLock { _ in
            watchers.withLock { $0.append(body) }
            body(state)
        }
    }

    /// Called while ``transition`` is locked, so that observers are notified in the order of the changes.
    func notifyObservers() {
        let state = state
        for body in watchers.withLock({ $0 }) { body(state) }
    }
}
