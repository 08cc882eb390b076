import CFuse3
import Glibc

/// A value protected by a mutex, with a condition variable. `Mutex` of Synchronization has no condition.
///
/// @unchecked: `state` is accessed only while `mutex` is locked; the two pointers are constant.
@safe final class Monitor<State>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    init(_ state: State) {
        self.state = state
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        // Timeouts must not depend on a clock that can be set.
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

    /// Runs `body` under the mutex. If `wakesAll`, all waiting threads then evaluate their condition again.
    @discardableResult
    func with<Result>(wakesAll: Bool = false, _ body: (inout State) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer {
            if wakesAll { unsafe pthread_cond_broadcast(condition) }
            unsafe pthread_mutex_unlock(mutex)
        }
        return body(&state)
    }

    /// Runs `body` under the mutex, and again after each wakeup, until it returns a value.
    func wait<Result>(_ body: (inout State) -> Result?) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&state) { return result }
            unsafe pthread_cond_wait(condition, mutex)
        }
    }

    /// Runs `body` under the mutex, and again after each wakeup, until it returns a value. Returns nil after
    /// `milliseconds`.
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

    /// Returns the time `milliseconds` from now on CLOCK_MONOTONIC, the clock of the condition variable.
    static func deadline(milliseconds: Int) -> timespec {
        var deadline = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &deadline)
        let nanoseconds = deadline.tv_nsec + milliseconds % 1000 * 1_000_000
        deadline.tv_sec += milliseconds / 1000 + nanoseconds / 1_000_000_000
        deadline.tv_nsec = nanoseconds % 1_000_000_000
        return deadline
    }

    /// Wakes one waiting thread.
    func wakeOne() {
        unsafe pthread_cond_signal(condition)
    }
}
