import CLinuxSupport

/// The properties of a file that every write changes: size and times (statx(2)). The time of the inode's last change
/// cannot be set by a program.
///
/// Since Linux 6.13 the first write after a query of the times also writes the inode: see ``FileStatus``.
public struct FileStamp: Hashable, Sendable {
    /// `st_dev` of stat(2).
    public let device: UInt64
    public let inode: UInt64
    /// The size in bytes.
    public let size: UInt64
    /// The time of the last write in nanoseconds since the epoch; utimensat(2) can set it.
    public let modified: Int64
    /// The time of the inode's last change (`st_ctim`) in nanoseconds since the epoch.
    public let changed: Int64

    /// Reads the stamp of a file. Follows symbolic links; nil if statx(2) fails.
    public init?(at path: String) {
        var stamp = file_stamp()
        guard unsafe file_stamp_of(path, &stamp) == 0 else { return nil }
        (device, inode, size) = (stamp.status.device, stamp.status.inode, stamp.status.size)
        (modified, changed) = (stamp.modified, stamp.changed)
    }
}
