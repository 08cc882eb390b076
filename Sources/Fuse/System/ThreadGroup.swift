/// The process that a thread belongs to, told from one that gets the same number later.
public struct ThreadGroup: Hashable, Sendable {
    /// The number of the process (`Tgid` of `/proc/TID/status`, proc_pid_status(5)).
    public let id: Int32
    /// When it was started, in clock ticks after boot (field 22 of `/proc/PID/stat`, proc_pid_stat(5)).
    public let startTime: UInt64

    /// Nil if there is no such thread, or it cannot be looked at.
    ///
    /// `/proc/TID/stat` of a thread gives the start of that thread: only its leader's is that of the process.
    public init?(ofThread threadID: Int32) {
        guard threadID > 0, let status = ProcFile.read("/proc/\(threadID)/status"),
            let id = Self.groupID(inStatus: status), let stat = ProcFile.read("/proc/\(id)/stat"),
            let startTime = Self.startTime(inStat: stat)
        else { return nil }
        (self.id, self.startTime) = (id, startTime)
    }

    /// The name, on the first line, has its newlines escaped: no process can put a line of its own before this one.
    static func groupID(inStatus text: String) -> Int32? {
        let line = text.split(separator: "\n").first { $0.hasPrefix("Tgid:") }
        return line.flatMap { Int32($0.dropFirst(5).drop { $0 == "\t" || $0 == " " }) }
    }

    /// The name, which may hold anything, ends at the last `)`; field 3 is the first after it.
    static func startTime(inStat text: String) -> UInt64? {
        guard let name = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: name)...].split(separator: " ")
        return fields.count > 19 ? UInt64(fields[19]) : nil
    }
}
