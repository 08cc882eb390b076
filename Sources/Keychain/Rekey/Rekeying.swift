import SecretCrypto

/// The progress of a rekey.
package struct RekeyProgress: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        /// No rekey was requested or continued since the keychain was opened.
        case idle
        case running
        /// Continues when the rows have been verified.
        case verifying
        /// Another device of the keychain runs a rekey. A rekey that is started here takes it over.
        case onOtherDevice
        /// Continues after the next unlock, or when the store accepts changes again; after `rowsDiffer` when the user accepts the
        /// rows, or a verification finds no difference.
        case waiting(KeychainFault)
        case finished
    }

    package var phase = Phase.idle
    /// The number of items that are sealed under the new keys.
    package var done = 0
    /// The number of items to reseal when the rekey started or continued.
    package var total = 0
    /// The number of items that could not be opened, so that the old keys of their classes had to stay.
    package var left = 0

    package init() {}
}

/// The device that runs the rekey in progress.
enum RekeyOwner {
    case noDevice
    case thisDevice
    case otherDevice

    /// - Parameter device: The device in the header; 0 for none.
    init(_ device: Int64, thisDevice: Int64?) {
        if device == 0 { self = .noDevice } else { self = device == thisDevice ? .thisDevice : .otherDevice }
    }
}

/// Schedules rekeys (contract, L5), and stores their progress.
///
/// One worker thread waits here. A lock stops it, and it continues after the next unlock.
final class Rekeying: Sendable {
    private struct State: Sendable {
        var isStarting = false
        var isWanted: Bool
        var isUnlocked = false
        /// Whether the keychain was unlocked, or the user accepted its rows, since the start of the last attempt.
        var isRetryDue = false
        /// Whether the user accepts rows that differ from the committed ones. Ends with a lock, an unlock, or a change by another
        /// program: these may be other rows.
        var acceptsDifferences = false
        var isClosed = false
        var progress = RekeyProgress()
    }

    private let state: Monitor<State>

    /// - Parameter isWanted: Whether the store seems to be in a rekey. An unlock decides.
    init(isWanted: Bool) {
        var first = State(isWanted: isWanted)
        if isWanted { first.progress.phase = .waiting(.interactionNotAllowed) }
        state = Monitor(first)
    }

    var progress: RekeyProgress { state.withLock { $0.progress } }

    /// - Parameter owner: The device that runs the rekey of the store.
    func unlocked(_ owner: RekeyOwner) {
        state.withLockAndSignal { state in
            (state.isUnlocked, state.isRetryDue, state.acceptsDifferences) = (true, true, false)
            switch owner {
            case .thisDevice: state.isWanted = true
            case .otherDevice: (state.isWanted, state.progress.phase) = (false, .onOtherDevice)
            case .noDevice where state.isWanted: (state.isWanted, state.progress.phase) = (false, .idle)
            case .noDevice: break
            }
        }
    }

    func locked() {
        state.withLockAndSignal { ($0.isUnlocked, $0.acceptsDifferences) = (false, false) }
    }

    func close() { state.withLockAndSignal { $0.isClosed = true } }

    /// Records that the user accepts rows that differ, during a reserved start.
    func acceptDifferences() { state.withLock { $0.acceptsDifferences = true } }

    /// Records that another program has changed the store.
    func noteExternalChange() { state.withLock { $0.acceptsDifferences = false } }

    /// Whether the user accepts rows that differ from the committed ones.
    var acceptsDifferences: Bool { state.withLock { $0.acceptsDifferences } }

    /// A start that was reserved.
    enum Reservation {
        case newRekey
        /// The rekey in progress waits because rows differ.
        case continuation
    }

    /// Reserves the start of a rekey until ``started(_:)``. Returns nil if one is running or being started.
    func reserve() -> Reservation? {
        state.withLock { state in
            let isStopped = state.progress.phase == .waiting(.rowsDiffer)
            guard !state.isStarting, !state.isWanted || isStopped else { return nil }
            state.isStarting = true
            return state.isWanted ? .continuation : .newRekey
        }
    }

    /// Records that the keys have been rotated or the rows accepted, or (false) that the start has failed.
    func started(_ isStarted: Bool) {
        state.withLockAndSignal { state in
            state.isStarting = false
            guard isStarted else { return state.acceptsDifferences = false }
            (state.isWanted, state.isRetryDue) = (true, true)
            state.progress = RekeyProgress()
            state.progress.phase = .running
        }
    }

    /// Blocks until a rekey is due and the keychain is unlocked. Returns false once the store is closed.
    func begin() -> Bool {
        let isWanted = state.wait(seconds: nil) { state -> Bool? in
            if state.isClosed { return false }
            guard state.isUnlocked, state.isWanted else { return nil }
            state.isRetryDue = false
            return true
        }
        return isWanted ?? false
    }

    func note(_ change: @Sendable (inout RekeyProgress) -> Void) {
        state.withLock { change(&$0.progress) }
    }

    /// Records the end of a rekey.
    ///
    /// - Parameter left: The number of items that could not be opened.
    func finished(left: Int) {
        state.withLock { state in
            (state.isWanted, state.acceptsDifferences) = (false, false)
            state.progress.left = left
            state.progress.phase = .finished
        }
    }

    /// Records that no rekey is in progress.
    func cancel() {
        state.withLock { state in
            (state.isWanted, state.acceptsDifferences) = (false, false)
            state.progress.phase = .idle
        }
    }

    /// Waits before the next attempt, at most until a lock, an unlock or ``started(_:)``.
    func pauseAfterFailure(milliseconds: Int) {
        _ = state.wait(milliseconds: milliseconds) { state -> Bool? in
            state.isUnlocked && !state.isRetryDue && !state.isClosed ? nil : true
        }
    }

    /// Pauses for other users of the store. Returns false if the worker must stop.
    func pause(milliseconds: Int) -> Bool {
        let stop = state.wait(milliseconds: milliseconds) { state -> Bool? in
            state.isUnlocked && !state.isClosed ? nil : true
        }
        return stop == nil
    }
}
