/// The user who sends a request, and who owns the files of the items that it adds.
package struct FileOwner: Hashable, Sendable {
    package var userID: UInt32
    package var groupID: UInt32

    package init(userID: UInt32, groupID: UInt32) {
        self.userID = userID
        self.groupID = groupID
    }
}
