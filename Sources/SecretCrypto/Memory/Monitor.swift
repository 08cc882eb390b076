import Glibc

/// A value behind a mutex, with a condition to wait for. `Mutex` from Synchronization has no condition.
///
/// `@unchecked Sendable`: the pointers are constant, the state is reached under the mutex only. The C objects need
/// a constant address, so they are allocated on the heap.
@safe
package final class Monitor<State: ~Copyable & Sendable>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let state = UnsafeMutablePointer<State>.allocate(capacity: 1)

    package init(_ initial: consuming State) {
        unsafe state.initialize(to: initial)
        unsafe pthread_mutex_init(mutex, nil)
        // Timed waits use CLOCK_MONOTONIC, which does not change when the system time is set.
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe state.deinitialize(count: 1)
        unsafe state.deallocate()
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Runs `body` under the mutex.
    package func withLock<T: ~Copyable, E>(_ body: (inout State) throws(E) -> T) throws(E) -> T {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try unsafe body(&state.pointee)
    }

    /// Runs `body` under the mutex, then wakes all waiting threads. Without waiters this makes no system call.
    package func withLockAndSignal<T>(_ body: (inout State) -> T) -> T {
        defer { unsafe pthread_cond_broadcast(condition) }
        return withLock(body)
    }

    /// Runs `body` under the mutex, now and after each signal, until it returns a value.
    ///
    /// - Parameter seconds: The timeout; nil waits indefinitely.
    /// - Returns: The value, or nil after the timeout.
    package func wait<T>(seconds: Int?, until body: (inout State) -> T?) -> T? {
        wait(milliseconds: seconds.map { $0 * 1000 }, until: body)
    }

    /// Runs `body` under the mutex, now and after each signal, until it returns a value or the timeout expires.
    package func wait<T>(milliseconds: Int?, until body: (inout State) -> T?) -> T? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        if let value = unsafe body(&state.pointee) { return value }
        var deadline = timespec()
        if let milliseconds {
            unsafe clock_gettime(CLOCK_MONOTONIC, &deadline)
            let nanoseconds = deadline.tv_nsec + milliseconds % 1000 * 1_000_000
            deadline.tv_sec += milliseconds / 1000 + nanoseconds / 1_000_000_000
            deadline.tv_nsec = nanoseconds % 1_000_000_000
        }
        while true {
            let result =
                milliseconds == nil
                ? unsafe pthread_cond_wait(condition, mutex)
                : unsafe pthread_cond_timedwait(condition, mutex, &deadline)
            if let value = unsafe body(&state.pointee) { return value }
            if result == ETIMEDOUT { return nil }
        }
    }
}
