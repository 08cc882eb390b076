import Glibc

/// The mount that a message may be written to: of one type of FUSE file system and, for a secret, of one user.
///
/// A path says neither: at the mount point there may be a directory of another user, or a mount of another kind. It is checked
/// for the open file, so that no other file can take its place afterwards.
public struct MountRequirement: Sendable {
    public enum Violation: Error, Equatable {
        /// The file lies in no mount of this type that this process sees.
        case anotherFileSystem
        /// It lies in the mount of this user.
        case anotherUser(UInt32)
    }

    /// As mountinfo shows it, `fuse.` and the subtype.
    private let type: String
    /// Any user's if nil.
    private let userID: UInt32?

    /// - Parameters:
    ///   - type: as mountinfo shows it, `fuse.` and the subtype.
    ///   - userID: in the namespace of this process; nil for any user.
    public init(type: String, userID: UInt32?) {
        (self.type, self.userID) = (type, userID)
    }

    /// Of the mount that an open file lies in; that file must stay open, or the kernel may give the number to another mount.
    public func check(_ mount: MountIdentity) throws(Violation) {
        guard let table = try? MountTable.current() else { throw .anotherFileSystem }
        try check(mount.number, in: table) { UserNamespace.outerUserID(of: $0) }
    }

    /// Whether a line of mountinfo is such a mount.
    public func accepts(_ entry: MountTable.Entry) -> Bool {
        violation(of: entry) { UserNamespace.outerUserID(of: $0) } == nil
    }

    /// `outer`: the number of a user in the parent namespace, where the mount may have been made.
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
