extension QueryClient {
    /// What the file of an item gets that the client adds: it alone may read and write.
    func itemFacts(_ row: RowID, _ now: KeychainDate) -> PosixAttributes { attributes(0o600, row, now) }

    /// What a directory gets that is made for it, but for the inode.
    func directoryFacts(_ now: KeychainDate) -> PosixAttributes { attributes(0o700, .none, now) }

    private func attributes(_ permissions: UInt32, _ row: RowID, _ now: KeychainDate) -> PosixAttributes {
        PosixAttributes(
            inode: UInt64(clamping: row.rawValue), permissions: permissions, userID: userID, groupID: groupID,
            modificationTime: now, accessTime: now)
    }
}
