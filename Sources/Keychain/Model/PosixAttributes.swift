/// The attributes of a file that are stored with an item or a directory in addition to its keychain attributes.
package struct PosixAttributes: Hashable, Sendable {
    /// `st_ino`, constant across renames and mounts.
    package var inode: UInt64
    /// The permission bits (`st_mode & 07777`).
    package var permissions: UInt32
    package var userID: UInt32
    package var groupID: UInt32
    package var modificationTime: KeychainDate
    package var accessTime: KeychainDate

    package init(
        inode: UInt64, permissions: UInt32, userID: UInt32, groupID: UInt32, modificationTime: KeychainDate,
        accessTime: KeychainDate
    ) {
        self.inode = inode
        self.permissions = permissions
        self.userID = userID
        self.groupID = groupID
        self.modificationTime = modificationTime
        self.accessTime = accessTime
    }
}
