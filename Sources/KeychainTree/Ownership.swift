import FileSystemCore
import Keychain
import SystemPackage

/// Who asks, and of which process he is as long as that can be said.
struct Requester: Sendable {
    let caller: Caller
    let identity: ProcessIdentity?
}

extension TreeOptions {
    /// Whom a file is shown to belong to.
    ///
    /// To an ordinary user who has the mount for himself everything in it belongs, whoever wrote it: on the machine where
    /// it was written he may have had another number.
    func owner(of file: PosixAttributes) -> (userID: UInt32, groupID: UInt32) {
        guard !isShared, userID != 0, file.userID != userID else { return (file.userID, file.groupID) }
        return (userID, groupID)
    }

    /// EPERM for who changes the class of what is another user's: the kernel asks for the right to write it only, and a class
    /// lets go of what others will write there.
    func checkProtection(
        _ old: ProtectionClass, _ new: ProtectionClass, _ file: PosixAttributes, _ caller: Caller
    ) throws(Errno) {
        guard isShared, old != new, ![0, userID, file.userID].contains(caller.userID) else { return }
        throw .notPermitted
    }

    /// Whether the kernel would let somebody read a file's attributes, as far as that is known without his further groups.
    ///
    /// For what the kernel is not asked about: whose item goes on under a name (F5).
    func mayRead(_ file: PosixAttributes, _ caller: Caller) -> Bool {
        guard isShared, caller.userID != 0 else { return true }
        if caller.userID == file.userID { return file.permissions & 0o400 != 0 }
        if caller.groupID == file.groupID { return file.permissions & 0o040 != 0 }
        return file.permissions & 0o004 != 0
    }
}
