/// The transaction by which a device verifies that a store contains its changes: the first one after an unlock, or the last
/// one of a session (contract, S2). The device stores it in its row, and outside of the store.
package struct DeviceMark: Hashable, Sendable {
    /// The number of the transaction; 0 before the first one.
    package var commit: Int64
    /// The ID of the transaction (16 bytes); zeros before the first one.
    package var commitID: [UInt8]

    package init(commit: Int64, commitID: [UInt8]) {
        self.commit = commit
        self.commitID = commitID
    }

    /// Creates the mark that the transaction of a header writes.
    init(of header: StoreHeader) { self.init(commit: header.commit, commitID: header.commitID) }

    /// The mark of a device that has changed nothing yet.
    package static let none = DeviceMark(commit: 0, commitID: [UInt8](repeating: 0, count: StoreHeader.commitIDCount))
}
