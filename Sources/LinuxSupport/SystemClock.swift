import CLinuxSupport

/// The clock of the machine that tells the time of day.
public enum SystemClock {
    /// Nanoseconds since the epoch (CLOCK_REALTIME, clock_gettime(2)): the clock of file times.
    public static var nanoseconds: Int64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    }

    /// Whether something keeps it right (adjtimex(2)); nil if that cannot be told.
    public static var isSynchronized: Bool? {
        var state = timex()
        guard unsafe adjtimex(&state) >= 0 else { return nil }
        return state.status & STA_UNSYNC == 0
    }
}
