import CSodium
import Glibc

/// Anonymous memory for secrets: locked, excluded from core dumps, zero in a forked child, with a guard page on each
/// side.
///
/// The memory is zero after `init`. `@unchecked Sendable`: the pointers are constant after `init`; the owner of a
/// region (`SecretArena`, `NoncePool`) synchronizes access to its contents.
@safe
struct LockedRegion: ~Copyable, @unchecked Sendable {
    private let mapping: UnsafeMutableRawPointer
    /// The size of the mapping in bytes. 0 if the system provided no memory; `mapping` is then one byte of the heap, so
    /// that the address is valid.
    private let mappedCount: Int
    /// The first usable byte. Valid for `byteCount` bytes during the lifetime of the region.
    let base: UnsafeMutableRawPointer
    /// The number of usable bytes, a multiple of the page size. 0 if the system provided no memory.
    let byteCount: Int
    /// Whether a forked child sees zeros instead of a copy (`MADV_WIPEONFORK`).
    let isWipedOnFork: Bool

    /// Maps at least `byteCount` bytes (mmap(2), madvise(2), mlock2(2)).
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
        // Failure is not fatal: `isLocked` and the hardening report show it.
        unsafe _ = madvise(base, usable, MADV_DONTDUMP)
        isWipedOnFork = unsafe madvise(base, usable, MADV_WIPEONFORK) == 0
        _ = unsafe Self.lock(base, usable)
    }

    /// Locks a range without populating it (MLOCK_ONFAULT). All of it counts against RLIMIT_MEMLOCK, but a page uses
    /// memory only after the first access.
    private static func lock(_ start: UnsafeMutableRawPointer, _ count: Int) -> Bool {
        if unsafe mlock2(start, count, csodium_lock_on_fault) == 0 { return true }
        // Linux before 4.4 has no mlock2(2).
        return unsafe errno == ENOSYS && mlock(start, count) == 0
    }

    /// Whether the memory is locked now.
    ///
    /// Locks the memory again, which is cheap if it is locked already. A fork drops locks, so the result of an earlier
    /// call may no longer hold.
    var isLocked: Bool {
        unsafe byteCount > 0 && Self.lock(base, byteCount)
    }

    deinit {
        if mappedCount > 0 { unsafe _ = munmap(mapping, mappedCount) } else { unsafe mapping.deallocate() }
    }
}
