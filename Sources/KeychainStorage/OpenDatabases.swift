internal import LinuxSupport
internal import Synchronization
internal import SystemPackage

/// The database files that this process has open.
///
/// A second connection would be refused by SQLite, but closing any descriptor of a file releases all POSIX locks that the process
/// holds on it (fcntl(2)), those of the first connection included. Hence this registry for the whole process.
final class OpenDatabases: Sendable {
    static let shared = OpenDatabases()

    /// A registered file. The reference prevents that a new file gets the number of a deleted one and is mistaken for it;
    /// nil if the file could not be opened.
    private struct Claim: Sendable { let inode: InodeReference? }

    private let claims = Mutex<[FileIdentity: Claim]>([:])

    /// Registers a file until ``release(_:)``.
    ///
    /// - Parameter path: The path of the file.
    /// - Returns: Whether it was not registered yet.
    func claim(_ file: FileIdentity, at path: FilePath) -> Bool {
        let claim = Claim(inode: InodeReference(path: path.string))
        return claims.withLock { claims in
            guard claims[file] == nil else { return false }
            claims[file] = claim
            return true
        }
    }

    /// Removes a file from the registry, after its last descriptor was closed.
    func release(_ file: FileIdentity) {
        _ = claims.withLock { $0.removeValue(forKey: file) }
    }
}
