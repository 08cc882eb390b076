internal import Dispatch
internal import Glibc
internal import Synchronization

/// Who may use a connection: a single thread at a time, in the order of arrival.
///
/// A writer who finds it in use leaves its part with whoever has it. Those who were waiting for the connection itself come
/// before the next transaction: neither starves the other.
final class Gate: Sendable {
    /// A thread that waits. The connection is handed over before it is woken.
    private struct Waiter: Sendable {
        let thread: pthread_t
        let wake = DispatchSemaphore(value: 0)
    }

    private struct State: Sendable {
        var owner: pthread_t?
        var waiters: [Waiter] = []
        var parts: [TransactionPart] = []
        /// Those of `waiters` that come before the next transaction.
        var waitersBeforeNextWrite = 0
    }

    private enum Next {
        case waiter(Waiter)
        case part(TransactionPart)
    }

    private let state = Mutex(State())

    /// Whether the calling thread has the connection.
    var isHeldByCurrentThread: Bool { state.withLock { $0.owner == pthread_self() } }

    /// How many parts wait for a transaction.
    var pendingWriteCount: Int { state.withLock { $0.parts.count } }

    /// Takes the connection if nobody has it. The caller does not have it.
    func tryAcquire() -> Bool {
        state.withLock { state in
            guard state.owner == nil else { return false }
            state.owner = pthread_self()
            return true
        }
    }

    /// Waits for the connection. The caller does not have it.
    func acquire() {
        let waiter = state.withLock { state -> Waiter? in
            guard state.owner != nil else {
                state.owner = pthread_self()
                return nil
            }
            let waiter = Waiter(thread: pthread_self())
            state.waiters.append(waiter)
            return waiter
        }
        waiter?.wake.wait()
    }

    /// Waits for the connection, or for somebody who has it to run `part` of the calling thread.
    func enter(with part: TransactionPart) -> TransactionPart.Turn {
        let isFree = state.withLock { state in
            guard state.owner != nil else {
                state.owner = part.thread
                return true
            }
            state.parts.append(part)
            return false
        }
        return isFree ? .lead : part.waitForRole()
    }

    /// For whoever has the connection: a part that waits, whose caller is to hear of its end.
    func dequeueWrite() -> TransactionPart? {
        state.withLock { $0.parts.isEmpty ? nil : $0.parts.removeFirst() }
    }

    /// Hands the connection on; no transaction is open.
    func release(afterWrite: Bool = false) {
        let next = state.withLock { state -> Next? in
            if afterWrite { state.waitersBeforeNextWrite = state.waiters.count }
            let next = Self.next(&state)
            state.owner =
                switch next {
                case .waiter(let waiter): waiter.thread
                case .part(let part): part.thread
                case nil: nil
                }
            return next
        }
        switch next {
        case .waiter(let waiter): waiter.wake.signal()
        case .part(let part): part.wake(.lead)
        case nil: break
        }
    }

    private static func next(_ state: inout State) -> Next? {
        if state.waitersBeforeNextWrite > 0, !state.waiters.isEmpty {
            state.waitersBeforeNextWrite -= 1
            return .waiter(state.waiters.removeFirst())
        }
        if !state.parts.isEmpty { return .part(state.parts.removeFirst()) }
        return state.waiters.isEmpty ? nil : .waiter(state.waiters.removeFirst())
    }
}
