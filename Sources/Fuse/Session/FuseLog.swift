import CFuse3
import Synchronization

/// Where the messages of libfuse and of this binding go: one handler for the process, as libfuse has it.
///
/// Without a handler they are dropped; nothing is written to standard error. Names and contents are in none of them.
public enum FuseLog {
    /// How bad it is, in the order of syslog(3); the corresponding C type is `enum fuse_log_level`.
    public enum Level: Int32, Sendable {
        case emergency, alert, critical, error, warning, notice, info, debug
    }

    public typealias Handler = @Sendable (Level, String) -> Void

    private static let handler = Mutex<Handler?>(nil)

    /// Sets who gets the messages; called by any thread, must not call into a mount.
    public static func setHandler(_ new: Handler?) {
        handler.withLock { $0 = new }
        takeOver()
    }

    /// From now on libfuse writes here and not to standard error.
    static func takeOver() { _ = sink }

    private static let sink: Void = unsafe cfuse3_set_log_sink { level, text in
        guard let text = unsafe text else { return }
        FuseLog.write(Level(rawValue: level) ?? .error, FuseLog.trimmed(unsafe String(cString: text)))
    }

    static func write(_ level: Level, _ message: String) {
        let current = handler.withLock { $0 }
        current?(level, message)
    }

    private static func trimmed(_ text: String) -> String {
        text.last == "\n" ? String(text.dropLast()) : text
    }
}
