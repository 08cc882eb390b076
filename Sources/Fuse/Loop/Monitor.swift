import CFuse3
import Glibc

/// A state behind a lock, for whose change threads can wait: what `Mutex` of Synchronization has no condition for.
///
/// @unchecked: `state` is touched only while `mutex` is held; the two pointers never change.
@safe final class Monitor<State>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    init(_ state: State) {
        self.state = state
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        // Waits are measured by a clock that nobody sets.
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Runs `body` with the state; everyone who waits looks again afterwards if `wakesAll`.
    @discardableResult
    func with<Result>(wakesAll: Bool = false, _ body: (inout State) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer {
            if wakesAll { unsafe pthread_cond_broadcast(condition) }
            unsafe pthread_mutex_unlock(mutex)
        }
        return body(&state)
    }

    /// Runs `body` again and again, sleeping in between, until it returns something.
    func wait<Result>(_ body: (inout State) -> Result?) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            unsafe pthread_cond_wait(condition, mutex)
        }
    }

    /// The same for at most `milliseconds`; nil if it has not come to it.
    @discardableResult
    func wait<Result>(milliseconds: Int, _ body: (inout State) -> Result?) -> Result? {
        var deadline = Self.deadline(milliseconds: milliseconds)
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            if unsafe pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { return body(&state) }
        }
    }

    /// The moment `milliseconds` from now by CLOCK_MONOTONIC, the clock of the condition.
    static func deadline(milliseconds: Int) -> timespec {
        var deadline = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &deadline)
        let nanoseconds = deadline.tv_nsec + milliseconds % 1000 * 1_000_000
        deadline.tv_sec += milliseconds / 1000 + nanoseconds / 1_000_000_000
        deadline.tv_nsec = nanoseconds % 1_000_000_000
        return deadline
    }

    /// Wakes one of those who wait.
    func wakeOne() {
        unsafe pthread_cond_signal(condition)
    }
}
