import Fuse
import Logging

/// The target of log messages: standard error, or the system log (syslog(3), which journald reads).
enum LogTarget: Sendable {
    case standardError
    case system

    /// Sets up logging. Called once, before the first message. libfuse's messages go to the same target.
    func start() {
        switch self {
        case .standardError where JournalStream.isStandardError:
            LoggingSystem.bootstrap { _ in LineLogHandler(write: JournalStream.write) }
        case .standardError: LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        case .system:
            SystemLog.open(identity: "keychainfs")
            LoggingSystem.bootstrap { _ in LineLogHandler(write: SystemLog.write) }
        }
        let logger = Logger(label: "keychainfs.fuse")
        FuseLog.setHandler { level, message in logger.log(level: Logger.Level(level), "\(message)") }
    }
}

/// Writes each log message as a line without a time, which its target adds.
private struct LineLogHandler: LogHandler {
    let write: @Sendable (FuseLog.Level, String) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let pairs = all.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
        write(FuseLog.Level(event.level), "\(event.message)" + pairs.joined())
    }
}

extension Logger.Level {
    fileprivate init(_ level: FuseLog.Level) {
        self =
            switch level {
            case .emergency, .alert, .critical: .critical
            case .error: .error
            case .warning: .warning
            case .notice: .notice
            case .info: .info
            case .debug: .debug
            }
    }
}

extension FuseLog.Level {
    fileprivate init(_ level: Logger.Level) {
        self =
            switch level {
            case .critical: .critical
            case .error: .error
            case .warning: .warning
            case .notice: .notice
            case .info: .info
            case .debug, .trace: .debug
            }
    }
}
