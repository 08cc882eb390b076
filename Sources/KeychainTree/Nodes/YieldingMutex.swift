import FileSystemCore
import Synchronization

/// A mutex whose holder may wait for a disk.
///
/// A thread that must wait announces it first (``RequestWait``), so that another thread receives requests. Threads get
/// the mutex in the order in which they have come, and a thread has come before it announces its wait. So a RELEASE, for
/// whose reply no caller waits, takes effect before the OPEN that the kernel sends after it, although both wait.
struct YieldingMutex<Value: ~Copyable>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    /// The last thread that waits; nil if none does.
    private let last = Mutex<Turn?>(nil)
    /// The number of threads that wait, or had to and have not left yet.
    private let waiting = Atomic<Int32>(0)

    init(_ value: consuming sending Value) { mutex = Mutex(value) }

    func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        if let result = try withLockIfAvailable(body) { return result }
        return try wait(body)
    }

    /// Runs `body` if no other thread has the mutex or waits for it; returns nil otherwise.
    func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        guard waiting.load(ordering: .acquiring) == 0 else { return nil }
        return try mutex.withLockIfAvailable(body)
    }

    private func wait<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let turn = Turn()
        return try turn.passed.withLock { (_) throws(Failure) in
            // Before the announcement, after which the next request may come.
            waiting.add(1, ordering: .acquiringAndReleasing)
            let previous = last.withLock { last in
                defer { last = turn }
                return last
            }
            defer { leave(turn) }
            RequestWait.announce()
            previous?.passed.withLock { _ in }
            return try mutex.withLock(body)
        }
    }

    private func leave(_ turn: Turn) {
        last.withLock { if $0 === turn { $0 = nil } }
        waiting.subtract(1, ordering: .acquiringAndReleasing)
    }
}

/// The place of a thread that waits for a mutex. Locked until that thread has had the mutex.
final class Turn: Sendable {
    let passed = Mutex<Void>(())
}
