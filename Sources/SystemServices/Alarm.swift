import CSystemServices
import Glibc
public import SystemPackage

/// Wakes one thread at a moment of the clock that goes on while the machine sleeps (CLOCK_BOOTTIME), or when it is rung.
///
/// A condition variable cannot do that: its clock stands still during a suspend. See timerfd_create(2), eventfd(2).
public final class Alarm: Sendable {
    private let timer: Int32
    private let bell: Int32

    /// Throws EMFILE, ENFILE or ENOMEM.
    public init() throws(Errno) {
        let timer = timerfd_create(CLOCK_BOOTTIME, Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK))
        guard timer >= 0 else { throw Errno(rawValue: errno) }
        let bell = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard bell >= 0 else {
            let error = errno
            close(timer)
            throw Errno(rawValue: error)
        }
        (self.timer, self.bell) = (timer, bell)
    }

    deinit {
        close(timer)
        close(bell)
    }

    /// The time since the machine was started, suspends included.
    public static var now: Duration {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Returns when ``now`` is `moment` (nil: never), or ``ring()`` was called since the last return. Also now and then
    /// without a reason.
    public func wait(until moment: Duration?) {
        wait(until: moment, orFor: 0, on: -1)
    }

    /// The same, or until there is one of the poll(2) `events` on `descriptor`.
    func wait(until moment: Duration?, orFor events: Int16, on descriptor: Int32) {
        set(moment)
        var waiting = [
            pollfd(fd: timer, events: Int16(POLLIN), revents: 0), pollfd(fd: bell, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: events, revents: 0),
        ]
        _ = unsafe poll(&waiting, 3, -1)
        var count: UInt64 = 0
        _ = unsafe read(bell, &count, 8)
    }

    /// Ends the wait that is under way, or the next one; from any thread.
    public func ring() {
        var one: UInt64 = 1
        _ = unsafe write(bell, &one, 8)
    }

    /// A time of zero would disarm the timer.
    private func set(_ moment: Duration?) {
        var setting = itimerspec()
        if let moment {
            let (seconds, attoseconds) = max(moment, .nanoseconds(1)).components
            setting.it_value = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        }
        _ = unsafe timerfd_settime(timer, Int32(TFD_TIMER_ABSTIME), &setting, nil)
    }
}
