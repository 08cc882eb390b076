internal import LinuxSupport
internal import Synchronization
internal import SystemPackage

/// What makes two paths the same file: device and inode number (inode(7)).
struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64

    init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    init(_ stat: Stat) {
        self.init(device: UInt64(stat.deviceID.rawValue), inode: UInt64(stat.inode.rawValue))
    }

    init(_ status: FileStatus) { self.init(device: status.device, inode: status.inode) }
}

/// The database files that this process has open.
///
/// Process-wide because POSIX locks are: closing any descriptor of a file drops every lock that the process has on
/// it (fcntl(2)), so a second opening, though refused by SQLite, would unlock the first.
final class OpenDatabases: Sendable {
    static let shared = OpenDatabases()

    private let claimed = Mutex<Set<FileIdentity>>([])

    /// Whether nobody had it; it is the caller's until ``release(_:)``.
    func claim(_ file: FileIdentity) -> Bool {
        claimed.withLock { $0.insert(file).inserted }
    }

    func release(_ file: FileIdentity) {
        claimed.withLock { _ = $0.remove(file) }
    }
}
