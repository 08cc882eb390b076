internal import Foundation
internal import Keychain
internal import SecretCrypto

/// Sees to it that what was deleted or overwritten does not stay in the write-ahead log (contract, S8): empties the
/// log when no commit came for a second, at the latest after a minute, and at once when asked to.
///
/// One thread, from the first need on until ``close()``; it sleeps while there is nothing to do.
final class LogEraser: Sendable {
    private struct State: Sendable {
        var isClosed = false
        var isRunning = false
        var isUrgent = false
        /// Of the first erasing commit that the log still has.
        var since: ContinuousClock.Instant?
        var lastCommit = ContinuousClock.now
        var erase: (@Sendable () throws(KeychainFault) -> Void)?
    }

    /// When the log is emptied after a deletion or an overwriting.
    struct Delays: Equatable, Sendable {
        /// Without a commit.
        var quiet: Duration
        /// However many commits come.
        var longest: Duration

        /// What the contract promises.
        static let contract = Delays(quiet: .seconds(1), longest: .seconds(60))
    }

    let times: Delays
    private let state = Monitor(State())

    init(times: Delays = .contract) { self.times = times }

    /// What empties the log; without it nothing is done.
    func begin(_ erase: @escaping @Sendable () throws(KeychainFault) -> Void) {
        state.withLock { $0.erase = erase }
    }

    /// A transaction is durable.
    func committed(erasing: Bool) {
        let needsThread = state.withLock { state in
            state.lastCommit = .now
            guard erasing, state.since == nil else { return false }
            state.since = state.lastCommit
            return true
        }
        if needsThread { start() }
    }

    /// Empties the log as soon as it is not in use.
    func eraseSoon() {
        state.withLock { $0.isUrgent = true }
        start()
    }

    /// Ends the thread; one that is emptying the log finishes that.
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
                // A commit in between only makes it later: looked at when this time is over.
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
            // A full disk, say: tried again in a minute.
            state.withLock { state in
                state.since = .now
                state.lastCommit = .now + times.longest
            }
        }
    }

    /// How long to wait before the log is emptied: nil if there is no need to, negative if there never will be.
    private func delay(_ state: inout State) -> Duration? {
        if state.isClosed { return .seconds(-1) }
        if state.isUrgent { return .zero }
        guard let since = state.since else { return nil }
        return max(.zero, min(state.lastCommit + times.quiet, since + times.longest) - .now)
    }
}
