public import SystemPackage

/// An error of mounting, serving or unmounting.
public enum FuseError: Error, Hashable, Sendable {
    /// /dev/fuse does not exist: the kernel module is not loaded, or the container does not have the device.
    case deviceMissing
    /// This user must not open /dev/fuse.
    case deviceDenied
    /// fusermount3, which mounts for users other than root, is not in PATH.
    case helperMissing
    /// The kernel or fusermount3 refused to mount. `message` is the output, or the name of the error.
    case mountRefused(message: String)
    /// The mount is in use (EBUSY).
    case busy
    /// The mount does not exist, or no longer.
    case notMounted
    /// umount2(2) or fusermount3 refused to unmount.
    case unmountRefused(message: String)
    /// libfuse refused the session or its options. Its message is in the log.
    case sessionRefused
    /// A method was called in the wrong order: mounted twice, or run before it was mounted.
    case wrongState
    /// A system call of this module failed (memory, threads, descriptors).
    case system(Errno, call: String)
}

extension FuseError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .deviceMissing: "/dev/fuse does not exist; load the kernel module ('modprobe fuse')"
        case .deviceDenied: "/dev/fuse may not be opened by this user"
        case .helperMissing: "fusermount3 is not in PATH; install the package 'fuse3'"
        case .mountRefused(let message): "mount refused: \(message)"
        case .busy: "the mount is in use"
        case .notMounted: "not mounted"
        case .unmountRefused(let message): "unmount refused: \(message)"
        case .sessionRefused: "libfuse refused the session"
        case .wrongState: "the session is not in a state to do that"
        case .system(let error, let call): "\(call): \(error)"
        }
    }
}
