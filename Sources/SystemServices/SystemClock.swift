import CSystemServices

/// The clock of the machine that tells the time of day.
public enum SystemClock {
    /// Whether something keeps it right (adjtimex(2)); nil if that cannot be told.
    public static var isSynchronized: Bool? {
        var state = timex()
        guard unsafe adjtimex(&state) >= 0 else { return nil }
        return state.status & STA_UNSYNC == 0
    }
}
