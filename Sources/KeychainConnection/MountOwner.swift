import Foundation
package import LinuxSupport

/// The user whose mount may receive secrets from a client: the user who runs it, or a user that root names.
///
/// Any user can place a directory or a mount of another kind at the expected path, and would receive a passphrase
/// written there. See ``MountRequirement``.
package struct MountOwner: Sendable {
    /// The file system type of a mounted keychain in mountinfo.
    package static let fileSystemType = "fuse.keychainfs"
    /// The environment variable that names the user whose mount programs of root may use.
    package static let variable = "KEYCHAINFS_MOUNT_OWNER"

    package enum OwnerError: Error, Equatable {
        /// A user other than root names another user.
        case notRoot
        /// The user does not exist.
        case unknownUser
    }

    private let userID: UInt32?

    /// Accepts all owners, for messages without a secret.
    package static let anyone = MountOwner(userID: nil)
    /// The user who runs this process.
    package static var caller: MountOwner { MountOwner(userID: geteuid()) }

    private init(userID: UInt32?) { self.userID = userID }

    /// - Parameter name: The name or number of a user, given by root; nil for the user who runs this process.
    package init(name: String?) throws(OwnerError) {
        guard let name else {
            self = .caller
            return
        }
        guard geteuid() == 0 else { throw .notRoot }
        guard let userID = Self.userID(of: name) else { throw .unknownUser }
        self.init(userID: userID)
    }

    /// Returns the owner that ``variable`` names, if root runs the process. Other users can use only their own mounts.
    package static func ofEnvironment(
        _ environment: @autoclosure () -> [String: String] = ProcessInfo.processInfo.environment
    ) throws(OwnerError) -> MountOwner {
        guard geteuid() == 0, let name = environment()[variable], !name.isEmpty else { return .caller }
        return try MountOwner(name: name)
    }

    package var requirement: MountRequirement { MountRequirement(type: Self.fileSystemType, userID: userID) }

    private static func userID(of name: String) -> UInt32? {
        UInt32(name) ?? UserAccount.identifier(of: name)
    }
}
