import CFuse3
import Synchronization

/// The messages of libfuse and of this module. There is one handler for the process, as in libfuse.
///
/// Without a handler they are dropped; standard error is not used. Messages contain no names and no file contents.
public enum FuseLog {
    /// The severity, in the order of syslog(3) (`enum fuse_log_level`).
    public enum Level: Int32, Sendable {
        case emergency, alert, critical, error, warning, notice, info, debug
    }

    public typealias Handler = @Sendable (Level, String) -> Void

    private static let handler = Mutex<Handler?>(nil)

    /// Sets the handler. Any thread may call it; it must not access a mount.
    public static func setHandler(_ new: Handler?) {
        handler.withLock { $0 = new }
        takeOver()
    }

    /// Redirects libfuse's messages from standard error to the handler.
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
