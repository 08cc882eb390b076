import CFuse3
public import FileSystemCore
import Glibc

/// The wall clock.
public enum SystemClock {
    /// Now, to the nanosecond (clock_gettime(2), CLOCK_REALTIME).
    public static func now() -> Timestamp {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(seconds: Int64(time.tv_sec), nanoseconds: Int32(time.tv_nsec))
    }
}
