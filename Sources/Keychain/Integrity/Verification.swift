import SecretCrypto

/// The result of the last verification of a store (contract, S2). Raw values are part of the status.
package enum IntegrityState: String, Sendable {
    case unverified
    case verifying
    /// Every row is as it was committed, and the indexes agree with the rows.
    case verified
    /// Rows are missing, older than they should be, or were never committed; or indexes are wrong; or another program
    /// has changed the store and it has not been verified again yet.
    case damaged
}

/// The result of a verification and of the repair that followed.
package struct IntegrityReport: Hashable, Sendable {
    /// The findings before the repair.
    package let findings: IntegrityFindings
    /// The repair; nil if the indexes agreed with the rows, or were not rebuilt because rows are not as committed.
    package let repair: IndexRepair.Outcome?

    /// Whether rows and indexes are correct now.
    package var isConsistent: Bool {
        findings.rows == nil && (repair?.isComplete ?? findings.indexes.areConsistent)
    }
}

/// Schedules the verification of rows and indexes, and stores its result.
///
/// One worker thread waits here. It verifies after each unlock, after a change by another program and once a day; a
/// lock stops it. Threads that are about to add a name wait here until the state of the indexes is known.
package final class Verification: Sendable {
    private enum Phase {
        case idle
        case wanted
        case running
        /// The disk, or the system, has prevented the verification.
        case failed
        case finished(isConsistent: Bool, at: ContinuousClock.Instant)
    }

    private struct State: Sendable {
        var phase = Phase.idle
        var isUnlocked = false
        /// Whether another program has changed the store since the start of the last verification.
        var isChanged = false
        /// Whether that has not been reported yet.
        var hasUnreportedChange = false
        /// Whether the last verification has failed.
        var hasFailed = false
        var isClosed = false
        var hasWorker = false
        /// The time at which the first thread began to wait for the indexes; nil if none has waited for this verification yet.
        var waitStart: ContinuousClock.Instant?
        var waiters = 0

        var mayRun: Bool { isUnlocked && !isClosed }

        /// Whether the worker is verifying or about to start.
        var isUnderWay: Bool {
            guard hasWorker, mayRun else { return false }
            return switch phase {
            case .wanted, .running: true
            case .idle, .failed, .finished: false
            }
        }
    }

    /// The maximum time that new names wait for the indexes, counted from the first thread that waits: while they are being
    /// compared, and while wrong ones may be rebuilt.
    private static let waitLimit = Duration.seconds(1)
    private static let rebuildLimit = Duration.seconds(10)
    private let state = Monitor(State())
    let indexes: SharedIndexTrust

    init(of indexes: SharedIndexTrust) {
        self.indexes = indexes
    }

    package var integrity: IntegrityState {
        state.withLock { state in
            if state.isChanged { return .damaged }
            return switch state.phase {
            case .idle, .wanted, .failed: .unverified
            case .running: .verifying
            case .finished(let isConsistent, _): isConsistent ? .verified : .damaged
            }
        }
    }

    /// Whether ``integrity`` is the result of a verification of the present state.
    var isFinished: Bool {
        state.withLock { state in
            if case .finished = state.phase { !state.isChanged } else { false }
        }
    }

    func unlocked() {
        state.withLockAndSignal { state in
            state.isUnlocked = true
            if case .running = state.phase { return }
            state.phase = .wanted
        }
    }

    /// Requests a verification if the last one failed, or ended more than `age` ago.
    func renew(after age: Duration, now: ContinuousClock.Instant) {
        state.withLockAndSignal { state in
            switch state.phase {
            case .failed: state.phase = .wanted
            case .finished(_, let end) where now - end >= age: state.phase = .wanted
            case .idle, .wanted, .running, .finished: break
            }
        }
    }

    /// Records that another program has changed the store: the state of rows and indexes is unknown.
    func noteExternalChange() {
        state.withLockAndSignal { state in
            (state.isChanged, state.hasUnreportedChange) = (true, true)
            (state.phase, state.waitStart) = (.wanted, nil)
            indexes.value = .unknown
        }
    }

    func locked() { state.withLockAndSignal { $0.isUnlocked = false } }
    func close() { state.withLockAndSignal { $0.isClosed = true } }

    /// Records the result of the worker's verification, unless ``note(_:)`` has recorded a newer one or requested
    /// another.
    func finish(isConsistent: Bool) {
        state.withLockAndSignal { state in
            guard case .running = state.phase else { return }
            state.phase = .finished(isConsistent: isConsistent, at: .now)
            (state.waitStart, state.isChanged, state.hasFailed) = (nil, false, false)
        }
    }

    /// Records the result of a verification on another thread. If the indexes can be rebuilt, the worker verifies again and
    /// rebuilds them.
    func note(_ findings: IntegrityFindings) {
        state.withLockAndSignal { state in
            indexes.value = IndexTrust(findings.indexes)
            let isForWorker = findings.mayRebuildIndexes && state.hasWorker
            state.phase = isForWorker ? .wanted : .finished(isConsistent: findings.isConsistent, at: .now)
            (state.waitStart, state.isChanged) = (nil, false)
        }
    }

    /// Records the state of the indexes, unless ``note(_:)`` has found them wrong in the meantime and requested another
    /// verification.
    func finishIndexes(_ trust: IndexTrust) {
        state.withLockAndSignal { state in
            if case .wanted = state.phase, indexes.value == .wrong { return }
            indexes.value = trust
        }
    }

    /// Called before the worker thread is started: new names then wait for it, even if it has not run yet.
    func expectWorker() {
        state.withLock { state in
            // Wrong indexes may have been found before the worker was started.
            if !state.hasWorker, indexes.value == .wrong, case .finished = state.phase { state.phase = .wanted }
            state.hasWorker = true
        }
    }

    /// A task of the worker.
    enum Task {
        case verify
        case reportExternalChange
    }

    /// Blocks until there is a task; nil once the store is closed.
    func begin() -> Task? {
        expectWorker()
        let task = state.wait(seconds: nil) { state -> Task?? in
            if state.isClosed { return .some(nil) }
            if state.hasUnreportedChange {
                state.hasUnreportedChange = false
                return .reportExternalChange
            }
            guard state.isUnlocked, case .wanted = state.phase else { return nil }
            state.phase = .running
            return .verify
        }
        return task ?? nil
    }

    /// Pauses for other users of the store, unless threads wait for the indexes. Returns false if the worker must stop.
    func pause(milliseconds: Int) -> Bool {
        let mayContinue = state.wait(milliseconds: milliseconds) { state -> Bool? in
            guard state.mayRun else { return false }
            return state.waiters > 0 ? true : nil
        }
        return mayContinue ?? true
    }

    /// Pauses before an operation that failed is repeated. Returns false if the worker must stop.
    func pauseAfterFailure(milliseconds: Int) -> Bool {
        state.wait(milliseconds: milliseconds) { state -> Bool? in state.mayRun ? nil : false } ?? true
    }

    /// Records that a lock ended the verification: it is repeated at the next unlock.
    func interrupt() { end(in: .idle) }

    /// Records that the disk or the system has prevented the verification: it is repeated at the next ``renew(after:now:)``. Has no
    /// effect for another fault: the keychain was locked or closed.
    ///
    /// - Returns: Whether it is the first failure since a verification that was completed.
    func fail(with fault: KeychainFault) -> Bool {
        guard fault.isTemporary else { return false }
        end(in: .failed)
        return state.withLock { state in
            defer { state.hasFailed = true }
            return !state.hasFailed
        }
    }

    private func end(in phase: Phase) {
        state.withLockAndSignal { state in
            guard case .running = state.phase else { return }
            state.phase = phase
            state.waitStart = nil
        }
    }

    /// Whether a worker is verifying or about to start.
    var isUnderWay: Bool { state.withLock { $0.isUnderWay } }

    /// Blocks while a worker is verifying or about to start: until its result, an error, a lock or the end.
    func awaitResult() {
        _ = state.wait(seconds: nil) { state -> Bool? in state.isUnderWay ? nil : true }
    }

    /// Whether a thread waits in ``awaitIndexes()``.
    var hasWaiters: Bool { state.withLock { $0.waiters > 0 } }

    /// Whether ``awaitIndexes()`` would wait.
    var areIndexesAwaited: Bool { !indexes.value.isSettled && state.withLock { $0.isUnderWay } }

    /// Blocks until the state of the indexes is known, if a worker is about to compare them. All threads together wait
    /// at most a second per verification, because each new item of a very large keychain would otherwise be delayed;
    /// while wrong indexes may be rebuilt, 10 s, because each new item would otherwise fail.
    func awaitIndexes() {
        while !indexes.value.isSettled, let left = beginWaiting() {
            _ = state.wait(milliseconds: Int((left / .milliseconds(1)).rounded(.up))) { state -> Bool? in
                state.isUnderWay && !indexes.value.isSettled ? nil : true
            }
            state.withLock { $0.waiters -= 1 }
        }
    }

    /// Counts a waiting thread. Returns the rest of the time that it may wait; nil after the end of that time.
    private func beginWaiting() -> Duration? {
        state.withLockAndSignal { state in
            guard state.isUnderWay else { return nil }
            let start = state.waitStart ?? .now
            state.waitStart = start
            let left = start + (indexes.value == .rebuilding ? Self.rebuildLimit : Self.waitLimit) - .now
            guard left > .zero else { return nil }
            state.waiters += 1
            return left
        }
    }
}
