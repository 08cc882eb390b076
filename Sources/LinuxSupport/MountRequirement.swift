import Glibc

/// A requirement for the mount to which a message may be written: the type of the FUSE file system and, for a secret,
/// its user.
///
/// The path does not guarantee that: another user's directory or another mount may exist at that path. The requirement is checked
/// for an open file, so that it cannot be exchanged afterwards.
public struct MountRequirement: Sendable {
    public enum Violation: Error, Equatable {
        /// No visible mount of this type contains the file.
        case anotherFileSystem
        /// A mount of this user contains the file.
        case anotherUser(UInt32)
    }

    /// The type in mountinfo, `fuse.` and the subtype.
    private let type: String
    /// The required user; nil for any.
    private let userID: UInt32?

    /// Creates a requirement.
    ///
    /// - Parameters:
    ///   - type: The type in mountinfo, `fuse.` and the subtype.
    ///   - userID: The user in this process's namespace; nil for any.
    public init(type: String, userID: UInt32?) {
        (self.type, self.userID) = (type, userID)
    }

    /// Checks the mount of an open file. The file must stay open, because the kernel may reuse the number of the mount.
    public func check(_ mount: MountIdentity) throws(Violation) {
        guard let table = try? MountTable.current() else { throw .anotherFileSystem }
        try check(mount.number, in: table) { UserNamespace.outerUserID(of: $0) }
    }

    /// Whether a line of mountinfo meets the requirement.
    public func accepts(_ entry: MountTable.Entry) -> Bool {
        violation(of: entry) { UserNamespace.outerUserID(of: $0) } == nil
    }

    /// Checks a mount of the table.
    ///
    /// - Parameter outer: Returns the user's ID in the parent namespace, in which the mount may have been created.
    func check(_ number: Int, in table: MountTable, outer: (UInt32) -> UInt32?) throws(Violation) {
        guard let entry = table.mount(identifier: number) else { throw .anotherFileSystem }
        if let violation = violation(of: entry, outer: outer) { throw violation }
    }

    private func violation(of entry: MountTable.Entry, outer: (UInt32) -> UInt32?) -> Violation? {
        guard entry.type == type, let owner = entry.fuseUserID else { return .anotherFileSystem }
        guard let userID, owner != userID, owner != outer(userID) else { return nil }
        return .anotherUser(owner)
    }
}
