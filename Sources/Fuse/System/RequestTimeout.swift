/// The time within which a FUSE server must reply to each request. Otherwise the kernel aborts the connection, and the
/// mount ends with every open file.
///
/// Set by an administrator (Linux 6.15; `Documentation/admin-guide/sysctl/fs.rst`). A mount keeps the value that was
/// valid at its FUSE_INIT.
public struct RequestTimeout: Hashable, Sendable {
    /// The time in seconds.
    public let seconds: Int

    /// The minimum in seconds. The kernel checks every 15 s, and raises shorter values to that (`init_server_timeout`
    /// of fs/fuse/inode.c).
    private static let minimum = 15

    /// Creates the timeout that results from the two settings in seconds, of which 0 means none. Nil without a timeout.
    ///
    /// libfuse requests none itself. The default therefore applies, or else the maximum, which limits the default, too.
    init?(default standard: Int, maximum: Int) {
        let wanted = standard > 0 ? standard : maximum
        guard wanted > 0 else { return nil }
        seconds = max(Self.minimum, maximum > 0 ? min(wanted, maximum) : wanted)
    }

    /// Reads the present settings; nil without a timeout, and on a kernel without these settings.
    ///
    /// - Parameter directory: The directory of the settings.
    public init?(directory: String = "/proc/sys/fs/fuse") {
        func value(_ name: String) -> Int {
            let text = ProcFile.read("\(directory)/\(name)")
            return text?.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) } ?? 0
        }
        self.init(default: value("default_request_timeout"), maximum: value("max_request_timeout"))
    }

    /// The maximum time that a handler may wait before it replies, in milliseconds.
    public var longestWait: Int { seconds * 1000 / 2 }
}
