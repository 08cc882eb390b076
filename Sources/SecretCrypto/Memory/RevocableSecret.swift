/// A secret that can be revoked while threads use it, such as a class key that a lock wipes.
///
/// Any number of threads may use it concurrently.
///
/// - Precondition: `revoke` is not called inside `use`, where it would deadlock.
package final class RevocableSecret: Sendable {
    private struct State: Sendable {
        var users = 0
        var isRevoked = false
    }

    private let state = Monitor(State())
    // Modified once, by the first `revoke`, when no user is left and none can be added. `state` orders both.
    nonisolated(unsafe) private var secret: SecretBytes?

    package init(_ secret: consuming SecretBytes) {
        unsafe self.secret = consume secret
    }

    /// Whether the secret can be used. May change at any time.
    package var isAvailable: Bool { state.withLock { !$0.isRevoked } }

    /// Runs `body` with the secret, which is not wiped before `body` returns.
    ///
    /// - Throws: `keyUnavailable` after `revoke`; the error of `body`.
    package func use<T: ~Copyable>(
        _ body: (borrowing SecretBytes) throws(CryptoError) -> T
    ) throws(CryptoError) -> T {
        try use(unavailable: .keyUnavailable, body)
    }

    /// Runs `body` with the secret, which is not wiped before `body` returns.
    ///
    /// - Throws: `unavailable` after `revoke`; the error of `body`.
    package func use<T: ~Copyable, E>(
        unavailable: @autoclosure () -> E, _ body: (borrowing SecretBytes) throws(E) -> T
    ) throws(E) -> T {
        guard enter() else { throw unavailable() }
        defer { leave() }
        switch unsafe secret {
        case .some(let secret): return try body(secret)
        case .none: throw unavailable()
        }
    }

    /// Refuses new users immediately, waits for the present ones, and wipes the secret. Returns after the wipe in every
    /// calling thread.
    package func revoke() {
        let isFirst = state.withLock { state in
            defer { state.isRevoked = true }
            return !state.isRevoked
        }
        // The first caller sets the count to -1 after the wipe, which releases the other callers.
        if isFirst {
            _ = state.wait(seconds: nil) { $0.users == 0 ? true : nil }
            unsafe secret = nil
            state.withLockAndSignal { $0.users = -1 }
        } else {
            _ = state.wait(seconds: nil) { $0.users == -1 ? true : nil }
        }
    }

    private func enter() -> Bool {
        state.withLock { state in
            if !state.isRevoked { state.users += 1 }
            return !state.isRevoked
        }
    }

    private func leave() {
        state.withLockAndSignal { $0.users -= 1 }
    }
}
