import Foundation
import Fuse
import LinuxSupport
import SystemPackage

/// Standard error as a stream of the journal, which adds the time and the process to each line.
enum JournalStream {
    /// Whether the service manager has connected standard error to the journal (`JOURNAL_STREAM`, systemd.exec(5)). Not if the variable
    /// was inherited, and standard error is another file.
    static var isStandardError: Bool {
        guard let variable = ProcessInfo.processInfo.environment["JOURNAL_STREAM"],
            let status = try? Stat(FileDescriptor.standardError)
        else { return false }
        let stream = FileIdentity(status)
        return variable == "\(stream.device):\(stream.inode)"
    }

    /// Writes a message, which must not contain an item's name or secret, as one line with its priority (sd-daemon(3)).
    static func write(_ level: FuseLog.Level, _ message: String) {
        let line = "<\(level.rawValue)>" + message.replacing("\n", with: " ") + "\n"
        // A failure cannot be reported.
        try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
    }
}
