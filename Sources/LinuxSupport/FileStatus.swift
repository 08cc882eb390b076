import CLinuxSupport
public import SystemPackage

/// Which file a path leads to, and how long it is; without its times.
///
/// stat(2) asks for the times, too, and since Linux 6.13 a file whose times somebody has seen gets new ones with its next write,
/// however soon that is (multigrain timestamps). Of a log that is looked at between commits each commit would have to
/// write the inode besides the data.
public struct FileStatus: Sendable {
    /// As `st_dev` of stat(2) has it.
    public let device: UInt64
    public let inode: UInt64
    /// In bytes.
    public let size: UInt64

    /// Nil if there is no such file, or it cannot be looked at (statx(2)). Links are followed.
    public init?(at path: String) {
        guard let status = try? Self.ofExisting(path) else { return nil }
        self = status
    }

    private init(_ status: file_status) { (device, inode, size) = (status.device, status.inode, status.size) }

    /// Nil if the path leads to no file (ENOENT, ENOTDIR, ELOOP); throws what else keeps statx(2) from answering. Links are
    /// followed.
    public static func ofExisting(_ path: String) throws(Errno) -> FileStatus? {
        var status = file_status()
        let result = unsafe file_status_of(path, &status)
        guard result != 0 else { return FileStatus(status) }
        let error = Errno(rawValue: -result)
        guard [.noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels].contains(error) else { throw error }
        return nil
    }
}
