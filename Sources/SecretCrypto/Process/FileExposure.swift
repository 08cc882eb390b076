import Glibc

/// What users other than root and the user of this process may do with a file (inode(7)).
///
/// Entries of an access control list (acl(5)) count as well: its mask is the group's bits.
package struct FileExposure: Equatable, Sendable {
    /// By its mode, or as its owner, who can change the mode.
    package let othersMayWrite: Bool
    /// By its mode.
    package let othersMayRead: Bool
    /// No right for the group and others, and the owner is root or the user of this process.
    package let isPrivate: Bool

    /// - Parameters:
    ///   - mode: as `st_mode` of stat(2).
    ///   - owner: as `st_uid`.
    package init(mode: UInt32, owner: UInt32, user: UInt32 = geteuid()) {
        let isOwn = owner == 0 || owner == user
        othersMayWrite = !isOwn || mode & (S_IWGRP | S_IWOTH) != 0
        othersMayRead = mode & (S_IRGRP | S_IROTH) != 0
        isPrivate = isOwn && mode & (S_IRWXG | S_IRWXO) == 0
    }

    init(_ status: stat) { self.init(mode: status.st_mode, owner: status.st_uid) }

    /// Of a file by its path, symbolic links followed; nil if stat(2) fails.
    package init?(path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}
