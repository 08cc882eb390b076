import SecretCrypto

/// Schedules, after every unlock, the rewrapping of rows that were sealed while locked (contract, S3).
///
/// One worker thread waits here. A lock stops it, and it continues after the next unlock.
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

    /// Blocks until an unlock requests it. Returns false once the store is closed.
    func begin() -> Bool {
        let isWanted = state.wait(seconds: nil) { state -> Bool? in
            if state.isClosed { return false }
            guard state.isUnlocked, state.isWanted else { return nil }
            state.isWanted = false
            return true
        }
        return isWanted ?? false
    }

    /// Pauses for other users of the store. Returns false if the worker must stop.
    func pause(milliseconds: Int) -> Bool {
        let stop = state.wait(milliseconds: milliseconds) { state -> Bool? in
            state.isUnlocked && !state.isClosed ? nil : true
        }
        return stop == nil
    }
}
