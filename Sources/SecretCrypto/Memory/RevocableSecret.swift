/// A secret that can be taken away from under its users: a class key that lock wipes.
///
/// Any number of threads use it side by side. Do not revoke from inside `use`: revoke would wait for itself.
package final class RevocableSecret: Sendable {
    private struct State: Sendable {
        var users = 0
        var isRevoked = false
    }

    private let state = Monitor(State())
    // Written once, by the first `revoke`, after the last user has left and when none can come: `state` orders both.
    nonisolated(unsafe) private var secret: SecretBytes?

    package init(_ secret: consuming SecretBytes) {
        unsafe self.secret = consume secret
    }

    /// Whether it can still be used. May change at any time.
    package var isAvailable: Bool { state.withLock { !$0.isRevoked } }

    /// Runs `body` with the secret, which stays whole until `body` returns; `keyUnavailable` after `revoke`.
    package func use<T: ~Copyable>(
        _ body: (borrowing SecretBytes) throws(CryptoError) -> T
    ) throws(CryptoError) -> T {
        try use(unavailable: .keyUnavailable, body)
    }

    /// The same for a body with errors of its own: throws `unavailable` after `revoke`.
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

    /// Refuses new users at once, waits for those under way, wipes. Every caller returns after the wipe.
    package func revoke() {
        let isFirst = state.withLock { state in
            defer { state.isRevoked = true }
            return !state.isRevoked
        }
        // The last user leaves with -1 set by the first caller, which tells the others that the wipe is done.
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
