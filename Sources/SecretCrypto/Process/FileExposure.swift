import Glibc

/// The access that users other than root and this process's user have to a file (inode(7)).
///
/// Entries of an access control list (acl(5)) are included, because the group bits are the list's mask.
package struct FileExposure: Equatable, Sendable {
    /// Whether others may write: by the mode, or as the owner, who can change the mode.
    package let othersMayWrite: Bool
    /// Whether others may read, by the mode.
    package let othersMayRead: Bool
    /// Whether the group and others have no access and the owner is root or this process's user.
    package let isPrivate: Bool

    /// Creates the exposure of a mode and an owner.
    ///
    /// - Parameters:
    ///   - mode: `st_mode` of stat(2).
    ///   - owner: `st_uid` of stat(2).
    ///   - user: The user of the process.
    package init(mode: UInt32, owner: UInt32, user: UInt32 = geteuid()) {
        let isOwn = owner == 0 || owner == user
        othersMayWrite = !isOwn || mode & (S_IWGRP | S_IWOTH) != 0
        othersMayRead = mode & (S_IRGRP | S_IROTH) != 0
        isPrivate = isOwn && mode & (S_IRWXG | S_IRWXO) == 0
    }

    init(_ status: stat) { self.init(mode: status.st_mode, owner: status.st_uid) }

    /// Reads the exposure of a file. Follows symbolic links; nil if stat(2) fails.
    package init?(path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}
