import CLinuxSupport
public import SystemPackage

/// The identity and size of a file, without its times.
///
/// stat(2) queries the times, too. Since Linux 6.13 a file whose times have been queried gets a new time with the next
/// write (multigrain timestamps). A commit would then have to write the log's inode in addition to the data.
public struct FileStatus: Sendable {
    /// `st_dev` of stat(2).
    public let device: UInt64
    public let inode: UInt64
    /// The size in bytes.
    public let size: UInt64

    /// Reads the status of a file. Follows symbolic links; nil if statx(2) fails.
    public init?(at path: String) {
        guard let status = try? Self.ofExisting(path) else { return nil }
        self = status
    }

    private init(_ status: file_status) { (device, inode, size) = (status.device, status.inode, status.size) }

    /// Reads the status of a file. Follows symbolic links.
    ///
    /// - Returns: The status; nil if the path refers to no file (ENOENT, ENOTDIR, ELOOP).
    /// - Throws: The errno of statx(2).
    public static func ofExisting(_ path: String) throws(Errno) -> FileStatus? {
        var status = file_status()
        let result = unsafe file_status_of(path, &status)
        guard result != 0 else { return FileStatus(status) }
        let error = Errno(rawValue: -result)
        guard [.noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels].contains(error) else { throw error }
        return nil
    }
}
