package import KeychainRPC
import Synchronization

/// A keychain with the caller's access groups: the entry point of the Keychain Services functions.
package struct ItemAccess: Sendable {
    package let connection: any KeychainTransport
    /// The access groups. New items belong to the first; without groups each call returns errSecMissingEntitlement. `*`
    /// represents all groups.
    package let accessGroups: [String]

    /// - Parameter groups: The access groups; by default those of this process.
    package init(_ connection: any KeychainTransport, groups: AccessGroups = .ofThisProcess) {
        self.init(connection, accessGroups: groups.names)
    }

    /// - Parameter accessGroups: The access groups; may be empty.
    package init(_ connection: any KeychainTransport, accessGroups: [String]) {
        self.connection = connection
        self.accessGroups = accessGroups
    }

    /// Returns the task's keychain, otherwise the process's, otherwise the mounted one.
    package static func current() -> ItemAccess {
        scoped ?? ofProcess.withLock { $0 } ?? mounted
    }

    /// Sets the keychain for all future calls of the process, except in tasks with their own; nil selects the mount
    /// again.
    package static func replace(_ access: ItemAccess?) {
        ofProcess.withLock { $0 = access }
    }

    /// The keychain of a task and its children, for tests that run concurrently.
    @TaskLocal package static var scoped: ItemAccess?

    private static let ofProcess = Mutex<ItemAccess?>(nil)
    private static let mounted = ItemAccess(MountConnection.shared)
}
