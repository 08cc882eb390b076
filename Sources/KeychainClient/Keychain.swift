import KeychainConnection
package import KeychainRPC

/// A keychain: passwords and their attributes, found by service or server and account.
///
/// Several threads can use it concurrently. All functions throw ``KeychainError``. No function blocks forever or asks
/// the user; access to locked items fails (``KeychainError/locked``).
public struct Keychain: Sendable {
    let connection: any KeychainTransport
    /// The access groups that this program may use, which its entitlements list on other systems. Items without an
    /// explicit group belong to the first; `*` represents all groups.
    public let accessGroups: [String]

    /// Creates a keychain that is reached through `connection`.
    package init(_ connection: any KeychainTransport, accessGroups: [String]) {
        self.connection = connection
        self.accessGroups = accessGroups
    }

    /// Returns the mounted keychain, locked or not.
    ///
    /// It keeps working after a remount. The mount must belong to this user, or admit this user.
    ///
    /// - Parameters:
    ///   - mountPoint: The mount point; nil for that in `KEYCHAINFS_MOUNT`, otherwise `~/Keychain`.
    ///   - accessGroups: The access groups; nil for those in `KEYCHAINFS_ACCESS_GROUPS` or the file
    ///     `~/.config/keychainfs/access-groups`.
    /// - Throws: ``KeychainError/notAvailable`` if no keychain is mounted, ``KeychainError/missingEntitlement`` if it
    ///   belongs to another user.
    public static func mounted(
        at mountPoint: String? = nil, accessGroups: [String]? = nil
    ) throws(KeychainError) -> Keychain {
        let connection = mountPoint.map { path in MountConnection { path } } ?? .shared
        let groups = accessGroups.map { AccessGroups($0) } ?? .ofThisProcess
        let keychain = Keychain(connection, accessGroups: groups.names)
        do throws(KeychainError) {
            // A search for zero items examines none.
            try keychain.call(.copyMatching, ["class": .string("genp"), "m_Limit": .integer(0)])
        } catch .itemNotFound {
            return keychain
        }
        return keychain
    }

    /// The group of items without an explicit one.
    public var defaultAccessGroup: String {
        accessGroups.first { $0 != "*" } ?? AccessGroups.fallback
    }
}
