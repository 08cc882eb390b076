internal import LinuxSupport
internal import Synchronization
internal import SystemPackage

/// The database files that this process has open.
///
/// A second connection would be refused by SQLite, but closing any descriptor of a file releases all POSIX locks that the process
/// holds on it (fcntl(2)), those of the first connection included. Hence this registry for the whole process.
final class OpenDatabases: Sendable {
    static let shared = OpenDatabases()

    /// The registered files. A reference prevents that a new file gets the number of a deleted one and is mistaken for it.
    private let claims = Mutex<[FileIdentity: InodeReference]>([:])

    /// Registers a file until ``release(_:)``.
    ///
    /// - Parameter path: The path of the file.
    /// - Returns: Whether it was not registered yet.
    /// - Throws: `notFound` if the path does not exist any more; `inUse` if it is the path of another file now, and `file`
    ///   possibly the number of a new one; the errors of open(2).
    func claim(_ file: FileIdentity, at path: FilePath) throws(StoreOpenError) -> Bool {
        let reference: InodeReference
        do throws(Errno) { reference = try InodeReference(path: path.string) } catch { throw StoreOpenError(error) }
        guard reference.file == file else { throw .inUse(processID: 0) }
        return claims.withLock { claims in
            guard claims[file] == nil else { return false }
            claims[file] = reference
            return true
        }
    }

    /// Removes a file from the registry, after its last descriptor was closed.
    func release(_ file: FileIdentity) {
        _ = claims.withLock { $0.removeValue(forKey: file) }
    }
}
