/// What a message of the kernel asks for; the corresponding C type is `enum fuse_opcode` (linux/fuse.h).
enum Opcode: UInt32, Sendable {
    case lookup = 1, forget, getattr, setattr, readlink, symlink
    case mknod = 8, mkdir, unlink, rmdir, rename, link, open, read, write, statfs, release
    case fsync = 20, setxattr, getxattr, listxattr, removexattr, flush, initialize, opendir, readdir, releasedir
    case fsyncdir, getlk, setlk, setlkw, access, create, interrupt, bmap, destroy, ioctl, poll, notifyReply
    case batchForget, fallocate, readdirplus, rename2, lseek, copyFileRange

    /// Whether serving it may wait: for a disk, another caller or memory.
    ///
    /// The receiving thread hands the lead on before it serves one of these, and serves all others itself: what the
    /// kernel sends after a RELEASE or a FORGET then finds it done.
    var mayWait: Bool {
        switch self {
        case .read, .write, .flush, .fsync, .fsyncdir, .copyFileRange: true
        case .setattr, .setxattr, .removexattr: true
        case .create, .mknod, .mkdir, .symlink, .link, .unlink, .rmdir, .rename, .rename2: true
        default: false
        }
    }

    /// Those of ``mayWait`` of which a file system can tell by itself which ones do (``SessionOptions/servesAtOnce``).
    var saysWhenItWaits: Bool { self == .read || self == .write || self == .create }

    /// Whether the kernel waits for no answer.
    var isUnanswered: Bool { self == .forget || self == .batchForget || self == .interrupt || self == .notifyReply }
}
