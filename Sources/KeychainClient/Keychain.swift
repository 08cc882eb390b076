import KeychainConnection
package import KeychainRPC

/// A keychain: passwords and their attributes, found by what they are for.
///
/// Can be used by several threads. Every function throws ``KeychainError``; nothing waits for ever, and no function asks a
/// person for anything: what is locked is refused (``KeychainError/locked``).
public struct Keychain: Sendable {
    let connection: any KeychainTransport
    /// What this program may use, as entitlements say on other systems. The first is the group of whatever names none; `*`
    /// stands for all.
    public let accessGroups: [String]

    /// A keychain behind a connection.
    package init(_ connection: any KeychainTransport, accessGroups: [String]) {
        self.connection = connection
        self.accessGroups = accessGroups
    }

    /// The keychain that is mounted, locked or not.
    ///
    /// It goes on working after a remount. The mount must be this user's, or let this user in.
    ///
    /// - Parameters:
    ///   - mountPoint: nil for what `KEYCHAINFS_MOUNT` names, else `~/Keychain`.
    ///   - accessGroups: nil for what `KEYCHAINFS_ACCESS_GROUPS`, or the file `~/.config/keychainfs/access-groups`, lists.
    /// - Throws: ``KeychainError/notAvailable`` if there is none, ``KeychainError/missingEntitlement`` for another user's.
    public static func mounted(
        at mountPoint: String? = nil, accessGroups: [String]? = nil
    ) throws(KeychainError) -> Keychain {
        let connection = mountPoint.map { path in MountConnection { path } } ?? .shared
        let groups = accessGroups.map { AccessGroups($0) } ?? .ofThisProcess
        let keychain = Keychain(connection, accessGroups: groups.names)
        do throws(KeychainError) {
            // Finds nothing, and looks at nothing.
            try keychain.call(.copyMatching, ["class": .string("genp"), "m_Limit": .integer(0)])
        } catch .itemNotFound {
            return keychain
        }
        return keychain
    }

    /// The group of what names none.
    public var defaultAccessGroup: String {
        accessGroups.first { $0 != "*" } ?? AccessGroups.fallback
    }
}
