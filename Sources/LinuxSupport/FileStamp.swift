import CLinuxSupport

/// What each write to a file changes: its size and times (statx(2)). The time of the last change of the inode cannot be set.
///
/// Since Linux 6.13 the next write after a look at the times also writes the inode: see ``FileStatus``.
public struct FileStamp: Hashable, Sendable {
    /// As `st_dev` of stat(2).
    public let device: UInt64
    public let inode: UInt64
    /// In bytes.
    public let size: UInt64
    /// Of the last write, in nanoseconds since the epoch; utimensat(2) can set it.
    public let modified: Int64
    /// Of the last change of the inode (`st_ctim`), in nanoseconds since the epoch.
    public let changed: Int64

    /// Nil if there is no such file, or statx(2) fails. Symbolic links are followed.
    public init?(at path: String) {
        var stamp = file_stamp()
        guard unsafe file_stamp_of(path, &stamp) == 0 else { return nil }
        (device, inode, size) = (stamp.status.device, stamp.status.inode, stamp.status.size)
        (modified, changed) = (stamp.modified, stamp.changed)
    }
}
