import FileSystemCore
import Keychain
import SystemPackage

/// The caller of a request, and its process if that is known.
struct Requester: Sendable {
    let caller: Caller
    let identity: ProcessIdentity?
}

extension TreeOptions {
    /// Returns the owner that a file is shown with.
    ///
    /// On a mount of an ordinary user without other users, all files belong to that user, because the user may have had
    /// another ID on the machine where they were written.
    func owner(of file: PosixAttributes) -> (userID: UInt32, groupID: UInt32) {
        guard !isShared, userID != 0, file.userID != userID else { return (file.userID, file.groupID) }
        return (userID, groupID)
    }

    /// Requires that the caller may change the protection class of another user's item.
    ///
    /// - Throws: EPERM. The kernel only checks the permission to write the item, but a weaker class would expose later
    ///   writes of the owner.
    func checkProtection(
        _ old: ProtectionClass, _ new: ProtectionClass, _ file: PosixAttributes, _ caller: Caller
    ) throws(Errno) {
        guard isShared, old != new, ![0, userID, file.userID].contains(caller.userID) else { return }
        throw .notPermitted
    }

    /// Whether the caller may read a file, as far as that is known without supplementary groups.
    ///
    /// For cases that the kernel does not check: the item that continues under a name (F5).
    func mayRead(_ file: PosixAttributes, _ caller: Caller) -> Bool {
        guard isShared, caller.userID != 0 else { return true }
        if caller.userID == file.userID { return file.permissions & 0o400 != 0 }
        if caller.groupID == file.groupID { return file.permissions & 0o040 != 0 }
        return file.permissions & 0o004 != 0
    }
}
