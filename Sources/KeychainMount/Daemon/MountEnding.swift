import Fuse
import KeychainTree
import Synchronization

/// The end of a mount by its daemon, after a signal or when the mount has been removed: locks the keychain and ends the session, so
/// that each other view of the mount fails with ENOTCONN, for items of every class.
final class MountEnding: Sendable {
    private let tree: KeychainFileSystem
    private let session: Session
    /// Locked during a lock of the keychain, which must not be closed at that time.
    private let hasBegun = Mutex(false)

    init(_ tree: KeychainFileSystem, _ session: Session) {
        self.tree = tree
        self.session = session
    }

    /// Ends the session soon, which removes a mount that still exists. Waits for no disk. Has no effect after the first call, and
    /// after ``finish()``.
    func begin() {
        hasBegun.withLock { hasBegun in
            guard !hasBegun else { return }
            hasBegun = true
            session.exit(sending: tree.lockFinally())
        }
    }

    /// Called when the session has ended. Returns when ``begin()`` no longer runs.
    func finish() { hasBegun.withLock { $0 = true } }
}
