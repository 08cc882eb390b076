import CFuse3
import Glibc

/// The system's log (syslog(3)), for a daemon that has no standard error.
public enum SystemLog {
    /// Opens it once, as `identity` and with the process id. The name must stay: it is kept for ever.
    public static func open(identity: String) {
        // openlog(3) keeps the pointer.
        unsafe openlog(strdup(identity), LOG_PID, Int32(LOG_DAEMON))
    }

    /// Writes one message; never an item's name or contents.
    public static func write(_ level: FuseLog.Level, _ message: String) {
        unsafe cfuse3_syslog(level.rawValue, message)
    }
}
