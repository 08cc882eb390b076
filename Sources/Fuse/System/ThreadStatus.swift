/// What `/proc/PID/stat` tells of a thread (proc(5)); the number that FUSE gives is that of a thread.
public struct ThreadStatus: Hashable, Sendable {
    /// The thread is on its way out (PF_EXITING).
    public let isExiting: Bool
    /// The signal that ends it; 0 for an ordinary exit, and where it may not be looked at.
    public let endingSignal: Int32

    /// PF_EXITING of `linux/sched.h`.
    private static let exiting: UInt64 = 0x4

    /// Whether a thread is on its way out; false if that cannot be seen.
    ///
    /// To be asked before its status is: that can wait for a thread that runs execve(2), for as long as the FLUSH of a
    /// descriptor with FD_CLOEXEC is not answered [observed on Linux 6.18]. A thread gives its memory back before it
    /// closes its files (`do_exit` in `kernel/exit.c`), and then `/proc/TID/statm` (proc_pid_statm(5)) is all zeros.
    public static func hasNoMemory(threadID: Int32) -> Bool {
        threadID > 0 && ProcFile.begins("/proc/\(threadID)/statm", with: "0 ")
    }

    /// Nil if there is no such thread, or it cannot be read.
    public init?(threadID: Int32) {
        guard threadID > 0, let text = ProcFile.read("/proc/\(threadID)/stat") else { return nil }
        self.init(text)
    }

    /// From a line of the file. The name, which may hold anything, ends at the last `)`.
    init?(_ line: String) {
        guard let name = line.lastIndex(of: ")") else { return nil }
        // Field 3, the state, is the first after the name.
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
