import SecretCrypto

/// When rows that were sealed while locked are sealed anew under their class keys (contract, S3): after every unlock.
///
/// One worker thread waits here; a lock stops it, and what it has not come to is done after the next unlock.
final class Rewrapping: Sendable {
    private struct State: Sendable {
        var isWanted = false
        var isUnlocked = false
        var isClosed = false
    }

    private let state = Monitor(State())

    func unlocked() {
        state.withLockAndSignal { state in
            state.isUnlocked = true
            state.isWanted = true
        }
    }

    /// Searches for rows again, because earlier searches may have missed some.
    func again() { state.withLockAndSignal { $0.isWanted = true } }

    func locked() { state.withLockAndSignal { $0.isUnlocked = false } }
    func close() { state.withLockAndSignal { $0.isClosed = true } }

    /// Waits until an unlock wants it done; false once the store is closed.
    func begin() -> Bool {
        let isWanted = state.wait(seconds: nil) { state -> Bool? in
            if state.isClosed { return false }
            guard state.isUnlocked, state.isWanted else { return nil }
            state.isWanted = false
            return true
        }
        return isWanted ?? false
    }

    /// Leaves the store to others for a moment; false if the work is to stop.
    func pause(milliseconds: Int) -> Bool {
        let stop = state.wait(milliseconds: milliseconds) { state -> Bool? in
            state.isUnlocked && !state.isClosed ? nil : true
        }
        return stop == nil
    }
}
