internal import LinuxSupport
internal import Synchronization

/// The database files that this process has open.
///
/// A second connection would be refused by SQLite, but closing any descriptor of a file releases all POSIX locks that the process
/// holds on it (fcntl(2)), those of the first connection included. Hence this registry for the whole process.
final class OpenDatabases: Sendable {
    static let shared = OpenDatabases()

    private let claimed = Mutex<Set<FileIdentity>>([])

    /// Registers a file until ``release(_:)``.
    ///
    /// - Returns: Whether it was not registered yet.
    func claim(_ file: FileIdentity) -> Bool {
        claimed.withLock { $0.insert(file).inserted }
    }

    /// Removes a file from the registry.
    func release(_ file: FileIdentity) {
        claimed.withLock { _ = $0.remove(file) }
    }
}
