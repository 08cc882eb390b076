import Glibc
public import SystemPackage

/// The permissions and the modification time of a file.
public struct FileAccess: Hashable, Sendable {
    /// A use of a file or a directory.
    public enum Use: Sendable {
        case read
        /// For a directory: to create and remove names.
        case write
        /// For a directory: to use the files in it.
        case search
    }

    public let isDirectory: Bool
    /// The permission bits (inode(7)).
    public let mode: UInt32
    /// The user ID of the owner.
    public let owner: UInt32
    /// Since the epoch.
    public let modificationTime: Duration

    /// Reads mode and owner of a file. Does not follow a symbolic link.
    ///
    /// - Throws: The errno of lstat(2).
    public init(of path: String) throws(Errno) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { throw Errno(rawValue: errno) }
        isDirectory = status.st_mode & S_IFMT == S_IFDIR
        (mode, owner) = (status.st_mode & 0o7777, status.st_uid)
        modificationTime = .seconds(status.st_mtim.tv_sec) + .nanoseconds(status.st_mtim.tv_nsec)
    }

    /// Requires that this process may use a file. Changes nothing.
    ///
    /// - Throws: The errno of faccessat(2): EACCES, EROFS, …
    public static func require(_ use: Use, of path: String) throws(Errno) {
        let mode =
            switch use {
            case .read: R_OK
            case .write: W_OK
            case .search: X_OK
            }
        guard unsafe faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 else { throw Errno(rawValue: errno) }
    }
}
