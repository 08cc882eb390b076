import CLinuxSupport
import Glibc
public import SystemPackage

/// The identity of a mount, which distinguishes it from a later mount at the same path.
///
/// Determined without a request to the file system, so that a daemon that does not respond cannot block it (statx(2)
/// with AT_STATX_DONT_SYNC).
public struct MountIdentity: Hashable, Sendable {
    private let mount: UInt64
    private let device: UInt64

    /// The mount ID of mountinfo (proc(5)); 0, which is not a valid ID, before Linux 5.8.
    public var number: Int { Int(clamping: mount) }

    /// Reads the identity of the mount that contains a path; nil if the path does not exist.
    public init?(at path: String) {
        self.init(directory: AT_FDCWD, path)
    }

    /// Reads the identity of the mount that contains an open file, even if it has been detached.
    public init?(of file: FileDescriptor) {
        self.init(directory: file.rawValue, "")
    }

    /// Creates the identity that another process has determined.
    init(mount: UInt64, device: UInt64) { (self.mount, self.device) = (mount, device) }

    /// Returns an order for a file in this mount. `bytes` must outlive it.
    func order(_ bytes: UnsafeRawBufferPointer) -> child_file_request_order {
        unsafe child_file_request_order(
            bytes: bytes.baseAddress, count: bytes.count, mount: mount, device: device)
    }

    private init?(directory: Int32, _ path: String) {
        var (mount, device) = (UInt64(0), UInt64(0))
        guard unsafe mount_identity_of(directory, path, &mount, &device) == 0 else { return nil }
        (self.mount, self.device) = (mount, device)
    }
}
