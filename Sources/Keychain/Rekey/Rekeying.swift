import SecretCrypto

/// How far a rekey has come.
package struct RekeyProgress: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        /// None has been asked for, or found under way, since the keychain was opened.
        case idle
        case running
        /// Goes on when it can: after the next unlock, or when the store takes changes again.
        case waiting(KeychainFault)
        case finished
    }

    package var phase = Phase.idle
    /// Items that are sealed under the new keys.
    package var done = 0
    /// Items that there were to seal anew when it began, or went on.
    package var total = 0
    /// Items that could not be opened, so that the old keys of their classes had to stay.
    package var left = 0

    package init() {}
}

/// When items are sealed anew under new keys (contract, L5), and how far that is.
///
/// One worker thread waits here; a lock stops it, and it goes on after the next unlock.
final class Rekeying: Sendable {
    private struct State: Sendable {
        var isStarting = false
        var isWanted: Bool
        var isUnlocked = false
        /// Whether there was an unlock since the last attempt began.
        var wasUnlocked = false
        var isClosed = false
        /// How often keys have been renewed, by a slot change or a rekey.
        var renewals = 0
        var progress = RekeyProgress()
    }

    private let state: Monitor<State>

    /// `isWanted`: one was under way when the keychain was last closed.
    init(isWanted: Bool) {
        var first = State(isWanted: isWanted)
        if isWanted { first.progress.phase = .waiting(.interactionNotAllowed) }
        state = Monitor(first)
    }

    var progress: RekeyProgress { state.withLock { $0.progress } }

    func unlocked() {
        state.withLockAndSignal { state in
            state.isUnlocked = true
            state.wasUnlocked = true
        }
    }

    func locked() { state.withLockAndSignal { $0.isUnlocked = false } }
    func close() { state.withLockAndSignal { $0.isClosed = true } }

    /// From here to ``started(_:)`` nobody else can start one; false if there is one already.
    func reserve() -> Bool {
        state.withLock { state in
            guard !state.isStarting, !state.isWanted else { return false }
            state.isStarting = true
            return true
        }
    }

    /// The new keys are there, or (false) there will be none.
    func started(_ isStarted: Bool) {
        state.withLockAndSignal { state in
            state.isStarting = false
            guard isStarted else { return }
            state.isWanted = true
            state.progress = RekeyProgress()
            state.progress.phase = .running
        }
    }

    /// Waits until there is one to be done, and the keychain unlocked; false once the store is closed.
    func begin() -> Bool {
        let isWanted = state.wait(seconds: nil) { state -> Bool? in
            if state.isClosed { return false }
            guard state.isUnlocked, state.isWanted else { return nil }
            state.wasUnlocked = false
            return true
        }
        return isWanted ?? false
    }

    func note(_ change: @Sendable (inout RekeyProgress) -> Void) {
        state.withLock { change(&$0.progress) }
    }

    var renewals: Int { state.withLock { $0.renewals } }

    /// What was sealed before is sealed under old keys.
    func didRotateKeys() { state.withLock { $0.renewals += 1 } }

    /// It is done, unless keys have been renewed since ``renewals`` was that number: then false.
    func finished(since renewals: Int) -> Bool {
        state.withLock { state in
            guard state.renewals == renewals else { return false }
            state.isWanted = false
            state.progress.phase = .finished
            return true
        }
    }

    /// There was none to be done.
    func cancel() {
        state.withLock { state in
            state.isWanted = false
            state.progress.phase = .idle
        }
    }

    /// Waits before the next attempt, but not beyond a lock or an unlock.
    func pauseAfterFailure(milliseconds: Int) {
        _ = state.wait(milliseconds: milliseconds) { state -> Bool? in
            state.isUnlocked && !state.wasUnlocked && !state.isClosed ? nil : true
        }
    }

    /// Leaves the store to others for a moment; false if the work is to stop.
    func pause(milliseconds: Int) -> Bool {
        let stop = state.wait(milliseconds: milliseconds) { state -> Bool? in
            state.isUnlocked && !state.isClosed ? nil : true
        }
        return stop == nil
    }
}
