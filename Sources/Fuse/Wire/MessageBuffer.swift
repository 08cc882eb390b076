import CFuse3
import Glibc
import SystemPackage

/// Memory for one message: page aligned, locked if the limit allows, not in core dumps, not inherited by children; or plain memory.
///
/// Most messages are short, so pages are there (and locked) from their first use on, and those of a long message go back
/// after it: they would be resident for ever otherwise.
///
/// @unchecked: the memory is the value's alone, and used by whoever has it.
@safe struct MessageBuffer: ~Copyable, @unchecked Sendable {
    /// libfuse reads up to 256 pages and a header of a page into it (`FUSE_MAX_MAX_PAGES`, `FUSE_BUFFER_HEADER_SIZE`
    /// of fuse_lowlevel.c); the margin is for a later version that asks for more.
    static let size = SessionOptions.maximumWrite + 65_536
    /// Enough for a message without contents or attributes, in bytes.
    static let shortSize = 4096
    /// How much of it stays resident, in bytes; whole pages, also where they have 64 KiB.
    static let kept = 65_536

    let start: UnsafeMutableRawPointer
    /// In bytes.
    let size: Int
    /// Whether mlock2(2) or mlock(2) succeeded.
    let isLocked: Bool
    /// Whether it is memory of the heap.
    private let isPlain: Bool

    /// Throws ENOMEM.
    init(size: Int = Self.size) throws(Errno) {
        self.size = size
        let memory = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory = unsafe memory, unsafe memory != MAP_FAILED else { throw Errno(rawValue: errno) }
        unsafe start = memory
        isPlain = false
        isLocked = unsafe Self.lock(memory, size)
        unsafe madvise(memory, size, MADV_DONTDUMP)
        unsafe madvise(memory, size, MADV_WIPEONFORK)
    }

    /// Memory of the heap, for messages without a secret. Not locked: it costs no page.
    init(plainSize size: Int) {
        self.size = size
        unsafe start = .allocate(byteCount: size, alignment: 16)
        isLocked = false
        isPlain = true
    }

    /// All of it counts against RLIMIT_MEMLOCK, touched or not.
    private static func lock(_ memory: UnsafeMutableRawPointer, _ size: Int) -> Bool {
        if unsafe mlock2(memory, size, cfuse3_lock_on_fault) == 0 { return true }
        // Before Linux 4.4 there is no other way.
        return unsafe errno == ENOSYS && mlock(memory, size) == 0
    }

    deinit {
        if isPlain { unsafe start.deallocate() } else { unsafe munmap(start, size) }
    }

    /// The first `count` bytes.
    @_lifetime(borrow self)
    func bytes(_ count: Int) -> RawSpan {
        let span = unsafe UnsafeRawBufferPointer(start: start, count: min(count, size)).bytes
        return unsafe _overrideLifetime(span, borrowing: self)
    }

    /// Takes over the first `count` bytes of another buffer, which are overwritten there; as many as fit.
    func move(_ count: Int, from other: borrowing MessageBuffer) {
        unsafe memcpy(start, other.start, min(count, size, other.size))
        other.wipe(count)
    }

    /// Overwrites the first `count` bytes, those of a message, with zeroes.
    func wipe(_ count: Int) {
        let count = min(count, size)
        unsafe explicit_bzero(start, count)
        guard count > Self.kept else { return }
        // Not before Linux 5.18: there they stay.
        unsafe madvise(start + Self.kept, size - Self.kept, cfuse3_dont_need_locked)
    }
}
