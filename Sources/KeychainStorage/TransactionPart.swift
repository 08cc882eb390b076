internal import Dispatch
internal import Glibc
internal import Keychain
internal import LinuxSupport
internal import Synchronization

/// The write of one caller in a group commit, executed by the caller or by another thread that holds the lock while the
/// caller waits.
final class TransactionPart: Sendable {
    typealias Call = LentCall<SQLiteRecords, Result<Void, KeychainFault>>

    /// The role of a waiting caller.
    enum Turn: Sendable {
        /// The caller holds the lock, and must execute its own write and those of others.
        case lead
        /// Another thread has executed it, and the transaction has ended.
        case completed
    }

    private struct State: Sendable {
        var turn = Turn.lead
        var failure: KeychainFault?
        var isErasing = false
    }

    /// The caller's thread.
    let thread = pthread_self()
    let ending: (any TransactionEnding)?
    private let call: Call
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    init(_ call: Call, ending: (any TransactionEnding)?) {
        self.call = call
        self.ending = ending
    }

    /// The reason why none of its changes is in the store: its own error, or that of the transaction.
    var failure: KeychainFault? { state.withLock { $0.failure } }
    /// Whether it has deleted or overwritten data.
    var isErasing: Bool { state.withLock { $0.isErasing } }

    func execute(_ records: SQLiteRecords) throws(KeychainFault) {
        try call(records)?.get()
        let isErasing = records.erasures?.isSet ?? false
        state.withLock { $0.isErasing = isErasing }
    }

    /// Records an error. The first one stays.
    func fail(with error: KeychainFault) {
        state.withLock { $0.failure = $0.failure ?? error }
    }

    /// Blocks the caller until it has a role.
    func waitForRole() -> Turn {
        wake.wait()
        return state.withLock { $0.turn }
    }

    /// Wakes the waiting caller.
    func wake(_ turn: Turn) {
        state.withLock { $0.turn = turn }
        wake.signal()
    }
}
