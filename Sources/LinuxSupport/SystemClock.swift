import CLinuxSupport
import Glibc

/// The system-wide clock of the time of day (CLOCK_REALTIME), which also dates files.
public enum SystemClock {
    /// The time since the epoch (clock_gettime(2)); `nanoseconds` is 0…999,999,999.
    public static var now: (seconds: Int64, nanoseconds: Int32) {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return (Int64(time.tv_sec), Int32(truncatingIfNeeded: time.tv_nsec))
    }

    /// The nanoseconds since the epoch, clamped to 64 bits: the clock may be set to any time.
    public static var nanoseconds: Int64 {
        let (seconds, nanoseconds) = now
        let limit = Int64.max / 1_000_000_000 - 1
        return min(max(seconds, -limit), limit) * 1_000_000_000 + Int64(nanoseconds)
    }

    /// Whether a time service synchronizes the clock (adjtimex(2)); nil if that is unknown.
    public static var isSynchronized: Bool? {
        var state = timex()
        guard unsafe adjtimex(&state) >= 0 else { return nil }
        return state.status & STA_UNSYNC == 0
    }
}
