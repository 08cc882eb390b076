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

/// When the rows of a store are verified, and what came of it.
///
/// One worker thread waits here; it works from an unlock on and stops at a lock, until one pass has come to its end.
package final class Verification: Sendable {
    private enum Phase {
        case idle
        case wanted
        case running
        case finished(IntegrityFault?)
    }

    private struct State: Sendable {
        var phase = Phase.idle
        var isUnlocked = false
        var isClosed = false

        var mayRun: Bool { isUnlocked && !isClosed }
    }

    private let state = Monitor(State())

    package var integrity: IntegrityState {
        switch state.withLock({ $0.phase }) {
        case .idle, .wanted: .unverified
        case .running: .verifying
        case .finished(nil): .verified
        case .finished: .damaged
        }
    }

    func unlocked() {
        state.withLockAndSignal { state in
            state.isUnlocked = true
            if case .idle = state.phase { state.phase = .wanted }
        }
    }

    func locked() { state.withLockAndSignal { $0.isUnlocked = false } }
    func close() { state.withLockAndSignal { $0.isClosed = true } }

    /// What another verification has found.
    func finish(_ fault: IntegrityFault?) { state.withLock { $0.phase = .finished(fault) } }

    /// Waits until there is something to verify; false once the store is closed.
    func begin() -> Bool {
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

    /// The pass has come to no end: again at once after a lock and unlock, at the next unlock after an error.
    func interrupt() {
        state.withLock { state in
            if case .running = state.phase { state.phase = .idle }
        }
    }
}

extension Keychain {
    /// Milliseconds between two pages: what waits for the store meanwhile goes first.
    private static let pause = 2

    package var integrity: IntegrityState { keys.verification.integrity }

    /// The life of a worker thread: verifies the rows after the first unlock; returns when the keychain is closed.
    ///
    /// - Parameter report: called once per pass that came to its end; nil: every row is what was committed.
    package func verifyInBackground(_ report: (IntegrityFault?) -> Void) {
        while keys.verification.begin() {
            do throws(KeychainError) {
                let pass = IntegrityPass(store, ledger: keys.ledger)
                while keys.verification.pause(milliseconds: Self.pause) {
                    guard case .finished(let fault) = try pass.step() else { continue }
                    keys.verification.finish(fault)
                    report(fault)
                    break
                }
            } catch {
                // Closed, or a disk that does not read: whoever needs the row is told.
            }
            keys.verification.interrupt()
        }
    }

    /// Whether the rows are those that were committed, verified now if nobody has done so since the store was opened.
    package func verifiedIntegrity() throws(KeychainError) -> IntegrityState {
        switch integrity {
        case .verified, .damaged: return integrity
        case .unverified, .verifying: return try verifyRows() == nil ? .verified : .damaged
        }
    }

    /// The same now, without a pause.
    func verifyRows() throws(KeychainError) -> IntegrityFault? {
        let pass = IntegrityPass(store, ledger: keys.ledger)
        while true {
            guard case .finished(let fault) = try pass.step() else { continue }
            keys.verification.finish(fault)
            return fault
        }
    }
}
