internal import Dispatch
internal import Glibc
internal import Keychain
internal import LinuxSupport
internal import Synchronization

/// One caller's part of a transaction: run by the caller, or by another one who has the connection while the caller waits.
final class TransactionPart: Sendable {
    typealias Call = LentCall<SQLiteRecords, Result<Void, KeychainFault>>

    /// What a caller hears who waits.
    enum Turn: Sendable {
        /// The connection is the caller's: to run this part and those of others.
        case lead
        /// Another one has run it, and the transaction is at an end.
        case completed
    }

    private struct State: Sendable {
        var turn = Turn.lead
        var failure: KeychainFault?
        var isErasing = false
    }

    /// The caller's.
    let thread = pthread_self()
    let ending: (any TransactionEnding)?
    private let call: Call
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    init(_ call: Call, ending: (any TransactionEnding)?) {
        self.call = call
        self.ending = ending
    }

    /// Why nothing of it is in the store; its own error, or that of the transaction.
    var failure: KeychainFault? { state.withLock { $0.failure } }
    /// Whether it has deleted or overwritten something.
    var isErasing: Bool { state.withLock { $0.isErasing } }

    func execute(_ records: SQLiteRecords) throws(KeychainFault) {
        try call(records)?.get()
        let isErasing = records.erasures?.isSet ?? false
        state.withLock { $0.isErasing = isErasing }
    }

    /// The first error stays.
    func fail(with error: KeychainFault) {
        state.withLock { $0.failure = $0.failure ?? error }
    }

    /// For the caller: waits for its turn.
    func waitForRole() -> Turn {
        wake.wait()
        return state.withLock { $0.turn }
    }

    /// Wakes the caller, who waits.
    func wake(_ turn: Turn) {
        state.withLock { $0.turn = turn }
        wake.signal()
    }
}
