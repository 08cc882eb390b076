import CSodium
import Glibc

/// Anonymous memory for secrets: a guard page on each side, locked, in no core dump, zeros in a forked child.
///
/// Zeroed when made. `@unchecked Sendable`: a pointer is not, but these are constant from `init` on; who hands out
/// what lies behind them synchronizes it (`SecretArena`, `NoncePool`).
@safe
struct LockedRegion: ~Copyable, @unchecked Sendable {
    private let mapping: UnsafeMutableRawPointer
    /// 0 if the system gave no memory; `mapping` is then one byte of the heap, so that there is an address.
    private let mappedCount: Int
    /// The first usable byte, valid for `byteCount` bytes while the region lives.
    let base: UnsafeMutableRawPointer
    /// Usable bytes, a multiple of the page size; 0 if the system gave none.
    let byteCount: Int
    /// Whether a forked child sees zeros instead of a copy (`MADV_WIPEONFORK`).
    let isWipedOnFork: Bool

    /// Maps at least `byteCount` bytes. See mmap(2), madvise(2), mlock2(2).
    init(byteCount wanted: Int) {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let usable = (max(wanted, 1) + page - 1) / page * page
        let mappedSize = usable + 2 * page
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        guard let start = unsafe mmap(nil, mappedSize, PROT_NONE, flags, -1, 0), unsafe start != MAP_FAILED else {
            unsafe mapping = .allocate(byteCount: 1, alignment: 1)
            unsafe base = mapping
            (mappedCount, byteCount, isWipedOnFork) = (0, 0, false)
            return
        }
        unsafe mapping = start
        mappedCount = mappedSize
        unsafe base = start + page
        byteCount = unsafe mprotect(base, usable, PROT_READ | PROT_WRITE) == 0 ? usable : 0
        // A missing one of these is no reason to refuse work: isLocked and the hardening report tell.
        unsafe _ = madvise(base, usable, MADV_DONTDUMP)
        isWipedOnFork = unsafe madvise(base, usable, MADV_WIPEONFORK) == 0
        _ = unsafe Self.lock(base, usable)
    }

    /// All of it counts against RLIMIT_MEMLOCK, but a page takes memory when it is first used: a command uses few.
    private static func lock(_ start: UnsafeMutableRawPointer, _ count: Int) -> Bool {
        if unsafe mlock2(start, count, csodium_lock_on_fault) == 0 { return true }
        // Before Linux 4.4 there is no other way.
        return unsafe errno == ENOSYS && mlock(start, count) == 0
    }

    /// Whether the memory is locked now. Asks the kernel to lock what already is, which costs nothing, and to lock
    /// again after a fork, which drops locks: so the answer is what holds, not what once held.
    var isLocked: Bool {
        unsafe byteCount > 0 && Self.lock(base, byteCount)
    }

    deinit {
        if mappedCount > 0 { unsafe _ = munmap(mapping, mappedCount) } else { unsafe mapping.deallocate() }
    }
}
