import CFuse3
import Glibc
import SystemPackage

/// Memory for one message. Page-aligned, locked if the limit permits, excluded from core dumps, not inherited by child
/// processes; or plain memory.
///
/// Most messages are short. Pages are therefore populated (and locked) at their first use, and those of a long message
/// are released after it; otherwise they would stay resident.
///
/// @unchecked: the value owns the memory, and only its owner accesses it.
@safe struct MessageBuffer: ~Copyable, @unchecked Sendable {
    /// The size in bytes. libfuse reads up to 256 pages and a header of one page (`FUSE_MAX_MAX_PAGES`,
    /// `FUSE_BUFFER_HEADER_SIZE` of fuse_lowlevel.c). The margin is for later versions that read more.
    static let size = SessionOptions.maximumWrite + 65_536
    /// A size in bytes that is sufficient for a message without data or attributes.
    static let shortSize = 4096
    /// The part that stays resident in bytes; whole pages, even if they have 64 KiB.
    static let kept = 65_536

    let start: UnsafeMutableRawPointer
    /// The size in bytes.
    let size: Int
    /// Whether mlock2(2) or mlock(2) succeeded.
    let isLocked: Bool
    /// Whether the memory is on the heap.
    private let isPlain: Bool

    /// Allocates locked memory.
    ///
    /// - Throws: ENOMEM.
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

    /// Allocates heap memory, for messages without a secret. Not locked, so that it does not occupy a whole page.
    init(plainSize size: Int) {
        self.size = size
        unsafe start = .allocate(byteCount: size, alignment: 16)
        isLocked = false
        isPlain = true
    }

    /// Locks the memory. All of it counts against RLIMIT_MEMLOCK, populated or not.
    private static func lock(_ memory: UnsafeMutableRawPointer, _ size: Int) -> Bool {
        if unsafe mlock2(memory, size, cfuse3_lock_on_fault) == 0 { return true }
        // Linux before 4.4 has no mlock2(2).
        return unsafe errno == ENOSYS && mlock(memory, size) == 0
    }

    deinit {
        if isPlain { unsafe start.deallocate() } else { unsafe munmap(start, size) }
    }

    /// Returns the first `count` bytes.
    @_lifetime(borrow self)
    func bytes(_ count: Int) -> RawSpan {
        let span = unsafe UnsafeRawBufferPointer(start: start, count: min(count, size)).bytes
        return unsafe _overrideLifetime(span, borrowing: self)
    }

    /// Copies the first `count` bytes of another buffer, as many as fit, and overwrites them there.
    func move(_ count: Int, from other: borrowing MessageBuffer) {
        unsafe memcpy(start, other.start, min(count, size, other.size))
        other.wipe(count)
    }

    /// Overwrites the first `count` bytes with zeros, or with another byte.
    func wipe(_ count: Int, fillingWith byte: UInt8? = nil) {
        let count = min(count, size)
        unsafe explicit_bzero(start, count)
        if let byte { unsafe memset(start, Int32(byte), count) }
        guard count > Self.kept else { return }
        // Has no effect before Linux 5.18: the pages stay resident.
        unsafe madvise(start + Self.kept, size - Self.kept, cfuse3_dont_need_locked)
    }
}
