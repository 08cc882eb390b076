internal import Dispatch
internal import Keychain
internal import Synchronization

/// A transaction that several callers share: those whose part is done wait here for the one who commits it.
final class SharedTransaction: Sendable {
    private struct State: Sendable {
        var members = 0
        var erases = false
        var waiters: [DispatchSemaphore] = []
        var outcome: Result<Void, KeychainError>?
    }

    private let state = Mutex(State())
    let ending: (any TransactionEnding)?

    init(ending: (any TransactionEnding)?) { self.ending = ending }

    /// Whose part is done and stays, unless the commit fails.
    var members: Int { state.withLock { $0.members } }
    /// Whether any part has deleted or overwritten something.
    var erases: Bool { state.withLock { $0.erases } }

    func join(erases: Bool) {
        state.withLock { state in
            state.members += 1
            if erases { state.erases = true }
        }
    }

    /// Waits for the commit, which somebody else makes; throws what it throws.
    func wait() throws(KeychainError) {
        let wake = DispatchSemaphore(value: 0)
        let isFinished = state.withLock { state in
            if state.outcome == nil { state.waiters.append(wake) }
            return state.outcome != nil
        }
        if !isFinished { wake.wait() }
        if case .failure(let error) = state.withLock({ $0.outcome }) { throw error }
    }

    /// Tells all who wait.
    func finish(_ outcome: Result<Void, KeychainError>) {
        let waiters = state.withLock { state in
            state.outcome = outcome
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.signal() }
    }
}
