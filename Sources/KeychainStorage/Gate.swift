internal import Dispatch
internal import Glibc
internal import Synchronization

/// A first-in, first-out lock on a database connection, with a queue of writes for group commit.
///
/// A writer that finds it held enqueues its part instead of waiting for the lock: the holder executes it. Threads that
/// wait for the lock when a transaction ends precede the next one, so that neither side starves the other.
final class Gate: Sendable {
    /// A thread that waits for the lock. Ownership is transferred before the thread is woken.
    private struct Waiter: Sendable {
        let thread: pthread_t
        let wake = DispatchSemaphore(value: 0)
    }

    private struct State: Sendable {
        var owner: pthread_t?
        var waiters: [Waiter] = []
        var parts: [TransactionPart] = []
        /// The number of `waiters` that precede the next transaction.
        var waitersBeforeNextWrite = 0
    }

    private enum Next {
        case waiter(Waiter)
        case part(TransactionPart)
    }

    private let state = Mutex(State())

    /// Whether the calling thread holds the lock.
    var isHeldByCurrentThread: Bool { state.withLock { $0.owner == pthread_self() } }

    /// The number of enqueued parts.
    var pendingWriteCount: Int { state.withLock { $0.parts.count } }

    /// Acquires the lock if it is free.
    ///
    /// - Precondition: The calling thread does not hold the lock.
    /// - Returns: Whether the lock was acquired.
    func tryAcquire() -> Bool {
        state.withLock { state in
            guard state.owner == nil else { return false }
            state.owner = pthread_self()
            return true
        }
    }

    /// Blocks until the calling thread holds the lock.
    ///
    /// - Precondition: The calling thread does not hold the lock.
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

    /// Blocks until the calling thread holds the lock, or another thread has executed `part`.
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

    /// Removes the first enqueued part, for the holder to execute in its transaction. The holder must wake its caller
    /// afterwards.
    func dequeueWrite() -> TransactionPart? {
        state.withLock { $0.parts.isEmpty ? nil : $0.parts.removeFirst() }
    }

    /// Releases the lock, or transfers it to the next waiter or part.
    ///
    /// - Precondition: The calling thread holds the lock, and no transaction is open.
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
