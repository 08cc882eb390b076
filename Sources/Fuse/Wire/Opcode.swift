/// The operation that a message requests (`enum fuse_opcode` of linux/fuse.h).
enum Opcode: UInt32, Sendable {
    case lookup = 1, forget, getattr, setattr, readlink, symlink
    case mknod = 8, mkdir, unlink, rmdir, rename, link, open, read, write, statfs, release
    case fsync = 20, setxattr, getxattr, listxattr, removexattr, flush, initialize, opendir, readdir, releasedir
    case fsyncdir, getlk, setlk, setlkw, access, create, interrupt, bmap, destroy, ioctl, poll, notifyReply
    case batchForget, fallocate, readdirplus, rename2, lseek, copyFileRange

    /// Whether serving the request may block: for a disk, another caller or memory.
    ///
    /// The receiver leaves these requests to other threads, or yields the receiver role before it serves one. It serves
    /// all others itself, so that a request that the kernel sends after a RELEASE or a FORGET finds its effect.
    var mayBlock: Bool {
        switch self {
        case .read, .write, .flush, .fsync, .fsyncdir, .copyFileRange: true
        case .setattr, .setxattr, .removexattr: true
        case .create, .mknod, .mkdir, .symlink, .link, .unlink, .rmdir, .rename, .rename2: true
        default: false
        }
    }

    /// Whether the file system announces which of these requests block (``SessionOptions/receiverServesIO``).
    var reportsBlocking: Bool { self == .read || self == .write || self == .create }

    /// Whether the bytes of the message are copied before the file system is called. Not the data of a WRITE, the value of a
    /// SETXATTR, and the list of a BATCH_FORGET.
    var isCopied: Bool { self != .write && self != .setxattr && self != .batchForget }

    /// Whether the request contains only numbers: no name, no value and no secret.
    var isNumeric: Bool {
        switch self {
        case .flush, .fsync, .fsyncdir, .setattr, .copyFileRange: true
        default: false
        }
    }

    /// The maximum length of these requests in bytes: SETATTR with a header of 40 and 88 (`struct fuse_setattr_in`),
    /// plus space for later versions of the protocol.
    static let longestNumeric = 192

    /// Whether the kernel expects no reply.
    var hasNoReply: Bool { self == .forget || self == .batchForget || self == .interrupt || self == .notifyReply }
}
