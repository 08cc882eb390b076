import CFuse3
import Glibc
import SystemPackage

/// Memory for one message: page aligned, locked if the limit allows, in no core dump, never a child's.
@safe struct MessageBuffer: ~Copyable {
    /// libfuse reads up to 256 pages and a header of a page into it (`FUSE_MAX_MAX_PAGES`, `FUSE_BUFFER_HEADER_SIZE`
    /// of fuse_lowlevel.c); the margin is for a later version that asks for more.
    static let size = (1 << 20) + 65_536

    let start: UnsafeMutableRawPointer
    /// Whether mlock(2) succeeded.
    let isLocked: Bool

    /// Throws ENOMEM.
    init() throws(Errno) {
        let memory = unsafe mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory = unsafe memory, unsafe memory != MAP_FAILED else { throw Errno(rawValue: errno) }
        unsafe start = memory
        isLocked = unsafe mlock(memory, Self.size) == 0
        unsafe madvise(memory, Self.size, MADV_DONTDUMP)
        unsafe madvise(memory, Self.size, MADV_WIPEONFORK)
    }

    deinit {
        unsafe munmap(start, Self.size)
    }

    /// The first `count` bytes.
    @_lifetime(borrow self)
    func bytes(_ count: Int) -> RawSpan {
        let span = unsafe UnsafeRawBufferPointer(start: start, count: min(count, Self.size)).bytes
        return unsafe _overrideLifetime(span, borrowing: self)
    }

    /// Overwrites the first `count` bytes with zeroes.
    func wipe(_ count: Int) {
        unsafe explicit_bzero(start, min(count, Self.size))
    }
}
