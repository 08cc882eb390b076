import CLinuxSupport
import Glibc
public import SystemPackage

/// Wakes one thread at a deadline of the clock that continues during a suspend (CLOCK_BOOTTIME), or on request.
///
/// The clock of a condition variable stops during a suspend. See timerfd_create(2), eventfd(2).
public final class WakeupTimer: Sendable {
    private let timer: Int32
    private let event: Int32

    /// Creates a timer.
    ///
    /// - Throws: EMFILE, ENFILE or ENOMEM.
    public init() throws(Errno) {
        let timer = timerfd_create(CLOCK_BOOTTIME, Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK))
        guard timer >= 0 else { throw Errno(rawValue: errno) }
        let event = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard event >= 0 else {
            let error = errno
            close(timer)
            throw Errno(rawValue: error)
        }
        (self.timer, self.event) = (timer, event)
    }

    deinit {
        close(timer)
        close(event)
    }

    /// The time since the machine was started, including suspends.
    public static var now: Duration {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Blocks until `deadline` (nil: none), or until ``wake()`` has been called since the last return. May return early
    /// without a reason.
    public func wait(until deadline: Duration?) {
        wait(until: deadline, orFor: 0, on: -1)
    }

    /// Blocks until `deadline` (nil: none), until ``wake()`` has been called, or until `descriptor` has one of the
    /// poll(2) `events`.
    func wait(until deadline: Duration?, orFor events: Int16, on descriptor: Int32) {
        set(deadline)
        var waiting = [
            pollfd(fd: timer, events: Int16(POLLIN), revents: 0), pollfd(fd: event, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: events, revents: 0),
        ]
        _ = unsafe poll(&waiting, 3, -1)
        var count: UInt64 = 0
        _ = unsafe read(event, &count, 8)
    }

    /// Ends the wait in progress, or the next one. Callable from any thread.
    public func wake() {
        var one: UInt64 = 1
        _ = unsafe write(event, &one, 8)
    }

    /// A time of zero would disarm the timer.
    private func set(_ deadline: Duration?) {
        var setting = itimerspec()
        if let deadline {
            let (seconds, attoseconds) = max(deadline, .nanoseconds(1)).components
            setting.it_value = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        }
        _ = unsafe timerfd_settime(timer, Int32(TFD_TIMER_ABSTIME), &setting, nil)
    }
}
