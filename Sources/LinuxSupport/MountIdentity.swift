import CLinuxSupport
import Glibc
public import SystemPackage

/// Which mount a path lies in, told from another one that takes its place later.
///
/// Asks the kernel alone, and never the file system: one whose daemon does not answer does not hold this up (statx(2) with
/// AT_STATX_DONT_SYNC).
public struct MountIdentity: Hashable, Sendable {
    private let mount: UInt64
    private let device: UInt64

    /// As in mountinfo (proc(5)); 0, which no mount has, before Linux 5.8.
    public var number: Int { Int(clamping: mount) }

    /// Of what is mounted at, or above, a path; nil if there is no such path.
    public init?(at path: String) {
        self.init(directory: AT_FDCWD, path)
    }

    /// Of the mount that an open file lies in, be it one that has been taken out of the tree.
    public init?(of file: FileDescriptor) {
        self.init(directory: file.rawValue, "")
    }

    /// As another process has determined it.
    init(mount: UInt64, device: UInt64) { (self.mount, self.device) = (mount, device) }

    private init?(directory: Int32, _ path: String) {
        var (mount, device) = (UInt64(0), UInt64(0))
        guard unsafe mount_identity_of(directory, path, &mount, &device) == 0 else { return nil }
        (self.mount, self.device) = (mount, device)
    }
}
