import CFuse3
import Glibc

/// The system log (syslog(3)), for a daemon without standard error.
public enum SystemLog {
    /// Opens the log as `identity`, with the process ID. Must be called once.
    public static func open(identity: String) {
        // openlog(3) retains the pointer.
        unsafe openlog(strdup(identity), LOG_PID, Int32(LOG_DAEMON))
    }

    /// Writes a message, which must not contain an item's name or secret.
    public static func write(_ level: FuseLog.Level, _ message: String) {
        unsafe cfuse3_syslog(level.rawValue, message)
    }
}
