internal import Dispatch
internal import Glibc
internal import Synchronization

/// Who may use the one connection: a single thread at a time, in the order of arrival.
///
/// A transaction that is open belongs to writers: readers wait for its end, so that they see nothing that is not
/// durable. Those who were waiting then come before the next transaction: neither starves the other.
final class Gate: Sendable {
    enum Purpose: Sendable { case read, write }

    /// A thread that waits. The connection is handed over before it is woken.
    private struct Waiter: Sendable {
        let thread: pthread_t
        let wake = DispatchSemaphore(value: 0)
    }

    private struct State: Sendable {
        var owner: pthread_t?
        var readers: [Waiter] = []
        var writers: [Waiter] = []
        /// Readers that come before the next transaction.
        var readersDue = 0
    }

    private let state = Mutex(State())

    /// Whether the calling thread has the connection.
    var isMine: Bool { state.withLock { $0.owner == pthread_self() } }

    /// How many wait for writing.
    var writerCount: Int { state.withLock { $0.writers.count } }

    /// Waits for the connection. The caller does not have it.
    func enter(_ purpose: Purpose) {
        let waiter = state.withLock { state -> Waiter? in
            guard state.owner != nil else {
                state.owner = pthread_self()
                return nil
            }
            let waiter = Waiter(thread: pthread_self())
            switch purpose {
            case .read: state.readers.append(waiter)
            case .write: state.writers.append(waiter)
            }
            return waiter
        }
        waiter?.wake.wait()
    }

    /// Hands the connection on; no transaction is open.
    func leave(afterWrite: Bool = false) {
        let next = state.withLock { state -> Waiter? in
            if afterWrite { state.readersDue = state.readers.count }
            let next = Self.next(&state)
            state.owner = next?.thread
            return next
        }
        next?.wake.signal()
    }

    /// Hands an open transaction on to the next writer; false if there is none, and the caller still has it.
    func handOn() -> Bool {
        let next = state.withLock { state -> Waiter? in
            guard !state.writers.isEmpty else { return nil }
            let next = state.writers.removeFirst()
            state.owner = next.thread
            return next
        }
        next?.wake.signal()
        return next != nil
    }

    private static func next(_ state: inout State) -> Waiter? {
        if state.readersDue > 0, !state.readers.isEmpty {
            state.readersDue -= 1
            return state.readers.removeFirst()
        }
        if !state.writers.isEmpty { return state.writers.removeFirst() }
        return state.readers.isEmpty ? nil : state.readers.removeFirst()
    }
}
