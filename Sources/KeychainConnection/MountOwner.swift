import Foundation
package import LinuxSupport

/// Whose mount a client gives secrets to: that of the user who runs it; of another user only if root says so.
///
/// Any user can put a directory or a mount of another kind where a keychain is expected, and would get a passphrase that is
/// written there. See ``MountRequirement``.
package struct MountOwner: Sendable {
    /// As mountinfo shows a mounted keychain.
    package static let fileSystemType = "fuse.keychainfs"
    /// The environment variable that names the user whose mount programs of root may use.
    package static let variable = "KEYCHAINFS_MOUNT_OWNER"

    package enum OwnerError: Error, Equatable {
        /// Only root may name another user.
        case notRoot
        /// There is no such user.
        case unknownUser
    }

    private let userID: UInt32?

    /// For messages without a secret.
    package static let anyone = MountOwner(userID: nil)
    /// The user who runs this process.
    package static var caller: MountOwner { MountOwner(userID: geteuid()) }

    private init(userID: UInt32?) { self.userID = userID }

    /// - Parameter name: the user's name or number, as root has given it; nil for the user who runs this process.
    package init(name: String?) throws(OwnerError) {
        guard let name else {
            self = .caller
            return
        }
        guard geteuid() == 0 else { throw .notRoot }
        guard let userID = Self.userID(of: name) else { throw .unknownUser }
        self.init(userID: userID)
    }

    /// What ``variable`` says, to root alone; other users have only their own mounts.
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
