import SecretCrypto

/// What is known of a store's rows since it was opened (contract, S2). Raw values are what scripts read.
package enum IntegrityState: String, Sendable {
    case unverified
    case verifying
    /// Every row is what was committed.
    case verified
    /// Rows are gone, older than they should be, or were never committed.
    case damaged
}

/// What a verification of a store found and did.
package struct IntegrityReport: Hashable, Sendable {
    /// Before anything was repaired.
    package let findings: IntegrityFindings
    package let repair: IndexRepair.Outcome?

    /// Whether the store is as it should be now.
    package var isSound: Bool {
        guard findings.rows == nil else { return false }
        return repair.map(\.isComplete) ?? findings.indexes.areSound
    }
}

/// When the rows and indexes of a store are verified, and what came of it.
///
/// One worker thread waits here; it works from an unlock on and stops at a lock, until one pass has come to its end. Threads
/// that are about to make a name wait here for the indexes.
package final class Verification: Sendable {
    private enum Phase {
        case idle
        case wanted
        case running
        case finished(isSound: Bool)
    }

    private struct State: Sendable {
        var phase = Phase.idle
        var isUnlocked = false
        var isClosed = false
        var hasWorker = false
        /// Until when threads wait for the indexes; nil before the first one does.
        var deadline: ContinuousClock.Instant?
        var waiters = 0

        var mayRun: Bool { isUnlocked && !isClosed }

        /// Whether the worker is at it, or about to be.
        var isUnderWay: Bool {
            guard hasWorker, mayRun else { return false }
            return switch phase {
            case .wanted, .running: true
            case .idle, .finished: false
            }
        }
    }

    /// So long a new name waits for the indexes, in all.
    private static let patience = Duration.seconds(1)
    private let state = Monitor(State())
    let indexes: SharedIndexTrust

    init(of indexes: SharedIndexTrust) {
        self.indexes = indexes
    }

    package var integrity: IntegrityState {
        switch state.withLock({ $0.phase }) {
        case .idle, .wanted: .unverified
        case .running: .verifying
        case .finished(let isSound): isSound ? .verified : .damaged
        }
    }

    /// What is wrong with the indexes is tried to be repaired after each unlock.
    func unlocked() {
        state.withLockAndSignal { state in
            state.isUnlocked = true
            switch state.phase {
            case .idle: state.phase = .wanted
            case .finished where indexes.value == .wrong: state.phase = .wanted
            case .wanted, .running, .finished: break
            }
        }
    }

    func locked() { state.withLockAndSignal { $0.isUnlocked = false } }
    func close() { state.withLockAndSignal { $0.isClosed = true } }

    /// What a verification has found.
    func finish(isSound: Bool) { state.withLockAndSignal { $0.phase = .finished(isSound: isSound) } }

    /// What a verification beside the worker has found. If the indexes are wrong, the worker is to build them anew.
    func note(_ findings: IntegrityFindings) {
        state.withLockAndSignal { state in
            indexes.value = IndexTrust(findings.indexes)
            let isForWorker = findings.indexes.hasDifferences && state.hasWorker
            state.phase = isForWorker ? .wanted : .finished(isSound: findings.isSound)
        }
    }

    /// What a comparison of the indexes has found.
    func finishIndexes(_ trust: IndexTrust) { state.withLockAndSignal { _ in indexes.value = trust } }

    /// Waits until there is something to verify; false once the store is closed.
    func begin() -> Bool {
        state.withLock { state in
            // What was found wrong before there was a worker.
            if !state.hasWorker, indexes.value == .wrong, case .finished = state.phase { state.phase = .wanted }
            state.hasWorker = true
        }
        let isWanted = state.wait(seconds: nil) { state -> Bool? in
            if state.isClosed { return false }
            guard state.isUnlocked, case .wanted = state.phase else { return nil }
            state.phase = .running
            return true
        }
        return isWanted ?? false
    }

    /// Leaves the store to others for a moment; false if the work is to stop.
    func pause(milliseconds: Int) -> Bool {
        let stop = state.wait(milliseconds: milliseconds) { $0.mayRun ? nil : true }
        return stop == nil
    }

    /// The same, unless somebody waits for the indexes.
    func pauseForIndexes(milliseconds: Int) -> Bool {
        let goesOn = state.wait(milliseconds: milliseconds) { state -> Bool? in
            guard state.mayRun else { return false }
            return state.waiters > 0 ? true : nil
        }
        return goesOn ?? true
    }

    /// The pass has come to no end: again at once after a lock and unlock, at the next unlock after an error.
    func interrupt() {
        state.withLockAndSignal { state in
            if case .running = state.phase { state.phase = .idle }
        }
    }

    /// Whether ``awaitIndexes()`` would wait.
    var areIndexesAwaited: Bool { !indexes.value.isSettled && state.withLock { $0.isUnderWay } }

    /// Waits until the indexes are known, if a worker is about to know them; not longer than a second, and for all who wait during
    /// one verification together: a keychain of millions of items would delay each new one else.
    func awaitIndexes() {
        guard !indexes.value.isSettled else { return }
        let left = state.withLockAndSignal { state -> Duration? in
            guard state.isUnderWay else { return nil }
            let now = ContinuousClock.now
            let deadline = state.deadline ?? now + Self.patience
            state.deadline = deadline
            state.waiters += 1
            return deadline - now
        }
        guard let left else { return }
        _ = state.wait(milliseconds: left.milliseconds) { state -> Bool? in
            state.isUnderWay && !indexes.value.isSettled ? nil : true
        }
        state.withLock { $0.waiters -= 1 }
    }
}

extension Duration {
    /// At least 0, rounded up.
    fileprivate var milliseconds: Int {
        let (seconds, attoseconds) = components
        return max(0, Int(clamping: seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
    }
}
