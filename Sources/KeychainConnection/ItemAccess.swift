package import KeychainRPC
import Synchronization

/// What the functions of Keychain Services call: a keychain, as the caller's access groups may see it.
package struct ItemAccess: Sendable {
    package let connection: any KeychainTransport
    /// The first is that of new items; without any every call is errSecMissingEntitlement. `*`: all groups.
    package let accessGroups: [String]

    /// `groups`: those of this process unless somebody names others.
    package init(_ connection: any KeychainTransport, groups: AccessGroups = .ofThisProcess) {
        self.init(connection, accessGroups: groups.names)
    }

    /// `accessGroups`: none, too.
    package init(_ connection: any KeychainTransport, accessGroups: [String]) {
        self.connection = connection
        self.accessGroups = accessGroups
    }

    /// That of this task, else that of the process, else the mount's.
    package static func current() -> ItemAccess {
        scoped ?? ofProcess.withLock { $0 } ?? mounted
    }

    /// Makes every call of the process that begins from now on go there, those of its tasks with an own one excepted; nil:
    /// to the mount again.
    package static func replace(_ access: ItemAccess?) {
        ofProcess.withLock { $0 = access }
    }

    /// For the calls of a task and its children, where tests run side by side.
    @TaskLocal package static var scoped: ItemAccess?

    private static let ofProcess = Mutex<ItemAccess?>(nil)
    private static let mounted = ItemAccess(MountConnection.shared)
}
