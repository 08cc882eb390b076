/// The time within which a FUSE server must reply to each request, or the kernel aborts the connection: the mount ends, with every open
/// file. An administrator sets it (Linux 6.15; `Documentation/admin-guide/sysctl/fs.rst`); a mount keeps the value of its FUSE_INIT.
public struct RequestTimeout: Hashable, Sendable {
    /// In seconds.
    public let seconds: Int

    /// The kernel checks every 15 s, and raises shorter values to that (`init_server_timeout` of fs/fuse/inode.c).
    private static let minimum = 15

    /// The values of the two settings in seconds; 0 means none. Nil without a timeout.
    ///
    /// libfuse requests none itself. So the default holds, or else the maximum, which limits the default too.
    init?(default standard: Int, maximum: Int) {
        let wanted = standard > 0 ? standard : maximum
        guard wanted > 0 else { return nil }
        seconds = max(Self.minimum, maximum > 0 ? min(wanted, maximum) : wanted)
    }

    /// The settings at this time; nil without a timeout, and on a kernel without these settings.
    ///
    /// - Parameter directory: Where the kernel shows them.
    public init?(directory: String = "/proc/sys/fs/fuse") {
        func value(_ name: String) -> Int {
            let text = ProcFile.read("\(directory)/\(name)")
            return text?.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) } ?? 0
        }
        self.init(default: value("default_request_timeout"), maximum: value("max_request_timeout"))
    }

    /// The longest that a handler waits before it replies, in milliseconds.
    public var longestWait: Int { seconds * 1000 / 2 }
}
