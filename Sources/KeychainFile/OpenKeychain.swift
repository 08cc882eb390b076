public import KeychainClient
import KeychainConnection
import KeychainRPC
import Synchronization

/// A keychain file that this process has open, without a mount: for servers, and for tests.
///
/// No other process can have it open meanwhile. Everything that a mount does to keep secrets in memory alone, and does as a
/// program of its own, is up to the program here: see the documentation.
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

    /// Its items. It stays open as long as one of these is there; once it is closed every call throws
    /// ``KeychainClient/KeychainError/notAvailable``.
    public var keychain: Keychain { Keychain(RetainingTransport(self), accessGroups: groups.names) }

    public var isUnlocked: Bool { stored.isUnlocked }

    /// Unlocks it, which takes as long as a guess costs. One that is unlocked stays so, whatever this throws.
    public func unlock(with method: consuming UnlockMethod) throws(KeychainFileError) {
        try stored.unlock(with: method.unlockSecret())
    }

    /// Wipes the keys of everything that can be used only while unlocked.
    public func lock() { stored.lock() }

    /// Wipes all keys and lets go of the file. For good: open it again to go on.
    public func close() {
        closed.store(true, ordering: .releasing)
        stored.close()
    }

    var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// Makes the functions of `import Security` (`SecItemAdd` …) use it, in the whole process, in place of the mount. It stays
    /// open as long as they do.
    public func useForKeychainServices() {
        ItemAccess.replace(ItemAccess(RetainingTransport(self), groups: groups))
    }

    /// Makes these functions use the mount again.
    public static func useMountForKeychainServices() {
        ItemAccess.replace(nil)
    }
}
