/// The minimum length of a message by its opcode. libfuse reads the parts listed here without checking the length.
///
/// The sizes are those of the structures of linux/fuse.h in protocol 7.31 without extensions, which is what libfuse
/// negotiates (SETXATTR in its short form).
struct MessageLayout: Sendable {
    /// The part after the names.
    enum Tail: Sendable {
        case nothing
        /// The number of bytes that the 32-bit number at this offset of the fixed part states.
        case bytes(countAt: Int)
        /// The number of 16-byte records that the 32-bit number at this offset of the fixed part states.
        case forgets(countAt: Int)
    }

    /// The length of the fixed part in bytes, without the header.
    let fixed: Int
    /// The number of NUL-terminated names that follow.
    var names = 0
    var tail = Tail.nothing

    init(_ opcode: Opcode) {
        switch opcode {
        case .lookup, .unlink, .rmdir, .removexattr: self.init(fixed: 0, names: 1)
        case .symlink: self.init(fixed: 0, names: 2)
        case .mkdir, .link, .getxattr: self.init(fixed: 8, names: 1)
        case .mknod, .create: self.init(fixed: 16, names: 1)
        case .rename: self.init(fixed: 8, names: 2)
        case .rename2: self.init(fixed: 16, names: 2)
        case .setxattr: self.init(fixed: 8, names: 1, tail: .bytes(countAt: 0))
        case .write: self.init(fixed: 40, tail: .bytes(countAt: 16))
        case .batchForget: self.init(fixed: 8, tail: .forgets(countAt: 0))
        default: self.init(fixed: Self.fixedSize(opcode))
        }
    }

    private init(fixed: Int, names: Int = 0, tail: Tail = .nothing) {
        self.fixed = fixed
        self.names = names
        self.tail = tail
    }

    private static func fixedSize(_ opcode: Opcode) -> Int {
        switch opcode {
        case .statfs, .readlink, .destroy, .notifyReply: 0
        case .forget, .open, .opendir, .listxattr, .access, .interrupt: 8
        case .getattr, .fsync, .fsyncdir, .initialize, .bmap: 16
        case .release, .releasedir, .flush, .poll, .lseek: 24
        case .ioctl, .fallocate: 32
        case .read, .readdir, .readdirplus: 40
        case .getlk, .setlk, .setlkw: 48
        case .copyFileRange: 56
        case .setattr: 88
        default: 0
        }
    }

    /// Whether `payload`, the message without its header, contains all parts.
    func fits(_ payload: RawSpan) -> Bool {
        guard payload.byteCount >= fixed, let end = endOfNames(in: payload) else { return false }
        let rest = payload.byteCount - end
        switch tail {
        case .nothing: return true
        case .bytes(let offset): return Int(payload.number(at: offset)) <= rest
        case .forgets(let offset): return Int(payload.number(at: offset)) * 16 <= rest
        }
    }

    private func endOfNames(in payload: RawSpan) -> Int? {
        var position = fixed
        for _ in 0..<names {
            while position < payload.byteCount, payload.byte(at: position) != 0 { position += 1 }
            guard position < payload.byteCount else { return nil }
            position += 1
        }
        return position
    }
}
