/// What a message of the kernel asks for; the corresponding C type is `enum fuse_opcode` (linux/fuse.h).
enum Opcode: UInt32, Sendable {
    case lookup = 1, forget, getattr, setattr, readlink, symlink
    case mknod = 8, mkdir, unlink, rmdir, rename, link, open, read, write, statfs, release
    case fsync = 20, setxattr, getxattr, listxattr, removexattr, flush, initialize, opendir, readdir, releasedir
    case fsyncdir, getlk, setlk, setlkw, access, create, interrupt, bmap, destroy, ioctl, poll, notifyReply
    case batchForget, fallocate, readdirplus, rename2, lseek, copyFileRange

    /// Whether serving it may wait: for a disk, another caller or memory.
    ///
    /// The receiving thread leaves these to other threads, or yields the receiver role before it serves one. It serves all others
    /// itself: a request that the kernel sends after a RELEASE or a FORGET then finds its effect.
    var mayBlock: Bool {
        switch self {
        case .read, .write, .flush, .fsync, .fsyncdir, .copyFileRange: true
        case .setattr, .setxattr, .removexattr: true
        case .create, .mknod, .mkdir, .symlink, .link, .unlink, .rmdir, .rename, .rename2: true
        default: false
        }
    }

    /// Those of ``mayBlock`` of which a file system can tell by itself which ones do (``SessionOptions/receiverServesIO``).
    var reportsBlocking: Bool { self == .read || self == .write || self == .create }

    /// Whether a request contains numbers only: no name, no value and no secret.
    var isNumeric: Bool {
        switch self {
        case .flush, .fsync, .fsyncdir, .setattr, .copyFileRange: true
        default: false
        }
    }

    /// The longest of these requests in bytes: SETATTR, 40 of the header and 88 (`struct fuse_setattr_in`), and space for a
    /// later version of the protocol.
    static let longestNumeric = 192

    /// Whether the kernel waits for no answer.
    var hasNoReply: Bool { self == .forget || self == .batchForget || self == .interrupt || self == .notifyReply }
}
