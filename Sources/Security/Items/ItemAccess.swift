package import KeychainRPC
internal import SecretCrypto
internal import Synchronization

/// What the functions of Keychain Services call: a keychain, as the caller's access groups may see it.
package struct ItemAccess: Sendable {
    package let connection: any ItemConnection
    /// The first is that of new items. `*`: all groups.
    package let accessGroups: [String]

    package init(_ connection: any ItemConnection, accessGroups: [String]) {
        self.connection = connection
        self.accessGroups = accessGroups
    }

    /// That of this task, else that of the process; without either nobody answers.
    package static func current() -> ItemAccess {
        scoped ?? ofProcess.withLock { $0 } ?? ItemAccess(NoConnection(), accessGroups: ["default"])
    }

    /// Makes every call of the process that begins from now on go there.
    package static func replace(_ access: ItemAccess?) {
        ofProcess.withLock { $0 = access }
    }

    /// For the calls of a task, where tests run side by side.
    @TaskLocal package static var scoped: ItemAccess?

    private static let ofProcess = Mutex<ItemAccess?>(nil)
}

/// Where there is no keychain: every call is errSecNotAvailable.
struct NoConnection: ItemConnection {
    func perform(
        _ request: ItemRequest, secret: borrowing SecretBytes, receive: (borrowing AnswerFrame) -> Void
    ) -> Int32 {
        errSecNotAvailable
    }
}
