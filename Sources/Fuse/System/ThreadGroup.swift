/// The process of a thread, distinguished from a later process with the same ID.
public struct ThreadGroup: Hashable, Sendable {
    /// The process ID (`Tgid` of `/proc/TID/status`, proc_pid_status(5)).
    public let id: Int32
    /// The start time in clock ticks after boot (field 22 of `/proc/PID/stat`, proc_pid_stat(5)).
    public let startTime: UInt64

    /// Reads the process of a thread; nil if the thread does not exist or cannot be inspected.
    ///
    /// `/proc/TID/stat` of a thread contains the start of that thread. Only the group leader's is that of the process.
    public init?(ofThread threadID: Int32) {
        guard threadID > 0, let status = ProcFile.readBytes("/proc/\(threadID)/status"),
            let id = Self.groupID(inStatus: status), let stat = ProcFile.readBytes("/proc/\(id)/stat"),
            let startTime = Self.startTime(inStat: stat)
        else { return nil }
        (self.id, self.startTime) = (id, startTime)
    }

    /// Parses the process ID. Newlines in the name, on the first line, are escaped, so that no process can insert a
    /// line before this one.
    static func groupID(inStatus text: [UInt8]) -> Int32? {
        var rest = text[...]
        while let end = rest.firstIndex(of: newline) {
            if rest.starts(with: groupField) {
                return number(rest[..<end].dropFirst(groupField.count).drop { $0 == tab || $0 == space })
            }
            rest = rest[(end + 1)...]
        }
        return nil
    }

    /// Parses the start time. The name, which may contain any bytes, ends at the last `)`; field 3 is the first one
    /// after it.
    static func startTime(inStat text: [UInt8]) -> UInt64? {
        guard let name = text.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        // Skips the parenthesis and a space.
        var rest = text[name...].dropFirst(2)
        for _ in 3..<22 {
            guard let end = rest.firstIndex(of: space) else { return nil }
            rest = rest[(end + 1)...]
        }
        return number(rest.prefix { $0 != space && $0 != newline })
    }

    private static func number<Number: FixedWidthInteger>(_ digits: ArraySlice<UInt8>) -> Number? {
        Number(String(decoding: digits, as: UTF8.self))
    }

    private static let groupField = Array("Tgid:".utf8)
    private static let space = UInt8(ascii: " ")
    private static let tab = UInt8(ascii: "\t")
    private static let newline = UInt8(ascii: "\n")
}
