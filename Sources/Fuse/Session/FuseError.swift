public import SystemPackage

/// Why a mount could not be made, used or ended.
public enum FuseError: Error, Hashable, Sendable {
    /// There is no /dev/fuse: the kernel module is not loaded, or the container does not have the device.
    case deviceMissing
    /// /dev/fuse may not be opened by this user.
    case deviceDenied
    /// fusermount3, which mounts for users other than root, is not in PATH.
    case helperMissing
    /// The kernel or fusermount3 refused; `message` is what it said, or the name of the error.
    case mountRefused(message: String)
    /// Something on the mount is in use (EBUSY).
    case busy
    /// There is no such mount, or no longer.
    case notMounted
    /// umount2(2) or fusermount3 refused.
    case unmountRefused(message: String)
    /// libfuse did not take the session or its options; what it said went to the log.
    case sessionRefused
    /// A method was called out of order: mounted twice, or run before it was mounted.
    case wrongState
    /// A system call failed that the binding itself needs (memory, threads, descriptors).
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
