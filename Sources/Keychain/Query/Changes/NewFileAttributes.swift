extension QueryClient {
    /// Returns the file attributes of an item that the client adds: only the client may read and write it.
    func itemFacts(_ row: RowID, _ now: KeychainDate) -> PosixAttributes { attributes(0o600, row, now) }

    /// Returns the file attributes of a directory that is created for the item, except the inode.
    func directoryFacts(_ now: KeychainDate) -> PosixAttributes { attributes(0o700, .none, now) }

    private func attributes(_ permissions: UInt32, _ row: RowID, _ now: KeychainDate) -> PosixAttributes {
        PosixAttributes(
            inode: UInt64(clamping: row.rawValue), permissions: permissions, userID: userID, groupID: groupID,
            modificationTime: now, accessTime: now)
    }
}
