public import KeychainClient
import KeychainConnection
import KeychainRPC
import Synchronization

/// A keychain file that this process has open without a mount: for servers, and for tests.
///
/// No other process can open it at the same time. Here the program itself is responsible for the measures that a mount
/// takes to keep secrets in memory only, and for running as a separate program: see the documentation.
public final class OpenKeychain: Sendable {
    private let stored: FileKeychain
    var connection: any KeychainTransport { stored.connection }

    private let groups: AccessGroups
    private let closed = Atomic(false)

    init(_ stored: FileKeychain, accessGroups: [String]?) {
        self.stored = stored
        groups = accessGroups.map { AccessGroups($0) } ?? .ofThisProcess
    }

    deinit {
        stored.close()
    }

    /// The items. The keychain stays open while one of these values exists. After ``close()`` each call throws
    /// ``KeychainClient/KeychainError/notAvailable``.
    public var keychain: Keychain { Keychain(RetainingTransport(self), accessGroups: groups.names) }

    public var isUnlocked: Bool { stored.isUnlocked }

    /// Unlocks the keychain, which takes as long as one guess. An unlocked keychain stays unlocked, even if this
    /// throws.
    public func unlock(with method: consuming UnlockMethod) throws(KeychainFileError) {
        try stored.unlock(with: method.unlockSecret())
    }

    /// Wipes the keys of all items that can be used only while the keychain is unlocked.
    public func lock() { stored.lock() }

    /// Wipes all keys and closes the file. The instance cannot be used again; open the file again to continue.
    public func close() {
        closed.store(true, ordering: .releasing)
        stored.close()
    }

    var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// Makes the functions of `import Security` (`SecItemAdd` …) use this keychain instead of the mount, in the whole
    /// process. The keychain stays open as long as they use it.
    public func useForKeychainServices() {
        ItemAccess.replace(ItemAccess(RetainingTransport(self), groups: groups))
    }

    /// Makes these functions use the mount again.
    public static func useMountForKeychainServices() {
        ItemAccess.replace(nil)
    }
}
