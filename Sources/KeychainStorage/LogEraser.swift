internal import Foundation
internal import Keychain
internal import SecretCrypto

/// Truncates the write-ahead log after deletions and overwrites, so that old data does not remain in it (contract, S8).
/// The log is truncated one second after the last commit, one minute after the first erasing commit at the latest, or
/// immediately on request.
///
/// Uses one thread, from the first erasing commit until ``close()``, which is blocked while there is nothing to erase.
final class LogEraser: Sendable {
    private struct State: Sendable {
        var isClosed = false
        var isRunning = false
        var isUrgent = false
        /// The time of the first erasing commit in the present log.
        var since: ContinuousClock.Instant?
        var lastCommit = ContinuousClock.now
        var erase: (@Sendable () throws(KeychainFault) -> Void)?
    }

    /// The delays between an erasing commit and the truncation.
    struct Delays: Equatable, Sendable {
        /// The time without a commit.
        var quiet: Duration
        /// The maximum time, regardless of further commits.
        var longest: Duration

        /// The delays that the contract promises.
        static let contract = Delays(quiet: .seconds(1), longest: .seconds(60))
    }

    let times: Delays
    private let state = Monitor(State())

    init(times: Delays = .contract) { self.times = times }

    /// Sets the function that truncates the log. Without it nothing is done.
    func begin(_ erase: @escaping @Sendable () throws(KeychainFault) -> Void) {
        state.withLock { $0.erase = erase }
    }

    /// Records a durable transaction.
    func committed(erasing: Bool) {
        let needsThread = state.withLock { state in
            state.lastCommit = .now
            guard erasing, state.since == nil else { return false }
            state.since = state.lastCommit
            return true
        }
        if needsThread { start() }
    }

    /// Requests a truncation as soon as the log is not in use.
    func eraseSoon() {
        state.withLock { $0.isUrgent = true }
        start()
    }

    /// Ends the thread, after a truncation in progress.
    func close() {
        state.withLockAndSignal { state in
            state.isClosed = true
            state.erase = nil
        }
    }

    private func start() {
        let isNew = state.withLockAndSignal { state in
            defer { state.isRunning = true }
            return !state.isRunning && !state.isClosed
        }
        if isNew { Thread.detachNewThread { [self] in run() } }
    }

    private func run() {
        while let delay = state.wait(seconds: nil, until: delay) {
            if delay > .zero {
                // A commit in the meantime only postpones the deadline, so it is evaluated after this time.
                let milliseconds = Int(delay / .milliseconds(1)) + 1
                _ = state.wait(milliseconds: milliseconds) { $0.isClosed || $0.isUrgent ? true : nil }
            } else if delay == .zero {
                eraseNow()
            } else {
                return
            }
        }
    }

    private func eraseNow() {
        let erase = state.withLock { state in
            state.isUrgent = false
            state.since = nil
            return state.erase
        }
        do throws(KeychainFault) {
            try erase?()
        } catch {
            // After a failure, such as a full disk, retries in a minute.
            state.withLock { state in
                state.since = .now
                state.lastCommit = .now + times.longest
            }
        }
    }

    /// Returns the time until the log must be truncated; nil if that is not necessary, negative if it never will be.
    private func delay(_ state: inout State) -> Duration? {
        if state.isClosed { return .seconds(-1) }
        if state.isUrgent { return .zero }
        guard let since = state.since else { return nil }
        return max(.zero, min(state.lastCommit + times.quiet, since + times.longest) - .now)
    }
}
