/// The status of a thread in `/proc/PID/stat` (proc(5)). The ID that FUSE passes is that of a thread.
public struct ThreadStatus: Hashable, Sendable {
    /// Whether the thread is exiting (PF_EXITING).
    public let isExiting: Bool
    /// The signal that ends the thread; 0 for an ordinary exit, and if it cannot be inspected.
    public let endingSignal: Int32

    /// PF_EXITING of `linux/sched.h`.
    private static let exiting: UInt64 = 0x4

    /// Whether a thread is exiting; false if that cannot be determined.
    ///
    /// Must be called before the status is read: reading it may wait for a thread that runs execve(2), as long as the
    /// FLUSH of a descriptor with FD_CLOEXEC has no reply [observed on Linux 6.18]. A thread releases its memory before
    /// it closes its files (`do_exit` in `kernel/exit.c`); `/proc/TID/statm` (proc_pid_statm(5)) then contains only
    /// zeros.
    public static func hasNoMemory(threadID: Int32) -> Bool {
        threadID > 0 && ProcFile.begins("/proc/\(threadID)/statm", with: "0 ")
    }

    /// Reads the status of a thread; nil if it does not exist or cannot be read.
    public init?(threadID: Int32) {
        guard threadID > 0, let text = ProcFile.read("/proc/\(threadID)/stat") else { return nil }
        self.init(text)
    }

    /// Parses a line. The name, which may contain any bytes, ends at the last `)`.
    init?(_ line: String) {
        guard let name = line.lastIndex(of: ")") else { return nil }
        // Field 3, the state, is the first one after the name.
        let fields = line[line.index(after: name)...].split(separator: " ")
        guard fields.count >= 50, let flags = UInt64(fields[6]), let code = Int32(fields[49].trimmingNewline) else {
            return nil
        }
        isExiting = flags & Self.exiting != 0
        endingSignal = code & 0x7F
    }
}

extension Substring {
    fileprivate var trimmingNewline: Substring { last == "\n" ? dropLast() : self }
}
