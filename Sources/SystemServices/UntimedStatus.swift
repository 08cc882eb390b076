import CSystemServices

/// Which file a path leads to, and how long it is; without its times.
///
/// stat(2) asks for the times, too, and since Linux 6.13 a file whose times somebody has seen gets new ones with its next write,
/// however soon that is (multigrain timestamps). Of a log that is looked at between commits each commit would have to
/// write the inode besides the data.
public struct UntimedStatus: Sendable {
    /// As `st_dev` of stat(2) has it.
    public let device: UInt64
    public let inode: UInt64
    /// In bytes.
    public let size: UInt64

    /// Nil if there is no such file, or it cannot be looked at (statx(2)). Links are followed.
    public init?(at path: String) {
        var status = untimed_status()
        guard unsafe untimed_status_of(path, &status) == 0 else { return nil }
        (device, inode, size) = (status.device, status.inode, status.size)
    }
}
