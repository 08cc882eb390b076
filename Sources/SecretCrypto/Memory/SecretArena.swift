import CSodium
import Glibc
package import Synchronization

/// The locked memory for all keys and plaintexts of the process, allocated in slabs.
///
/// `sodium_malloc` would cost 25 µs and five system calls per secret, and hides a failed mlock(2). A slab is zero when
/// it is allocated and wiped when it is freed; neither needs a system call. Thread-safe. A forked child sees zeros, so
/// a process must fork before it allocates secrets.
package final class SecretArena: Sendable {
    /// The arena of the process.
    package static let shared = SecretArena(capacity: sharedCapacity.load(ordering: .relaxed))

    /// The capacity of ``shared`` in bytes. Must be set before ``shared`` is first used.
    ///
    /// 4 MiB by default, within the usual RLIMIT_MEMLOCK of 8 MiB, which suffices for several values of maximum size.
    package static let sharedCapacity = Atomic(4 << 20)

    /// The maximum time that an allocation waits for a free slab, in seconds.
    package static let timeout = 1

    private let region: LockedRegion
    private let slabs: Monitor<SlabAllocator>

    /// Creates an arena of at least `capacity` bytes. If the system provides no memory, every allocation fails.
    package init(capacity: Int) {
        Sodium.ensure()
        region = LockedRegion(byteCount: capacity)
        slabs = Monitor(SlabAllocator(byteCount: region.byteCount))
    }

    /// Whether the arena is locked in memory now (mlock(2)). RLIMIT_MEMLOCK may prevent it.
    package var isLocked: Bool { region.isLocked }

    /// The size of all allocated slabs in bytes.
    package var bytesInUse: Int { slabs.withLock { $0.bytesInUse } }

    /// The maximum size of all slabs together in bytes.
    package var capacity: Int { region.byteCount }

    /// Allocates a zeroed slab of at least `count` bytes. Waits up to `timeout` seconds for a free one.
    ///
    /// - Throws: `outOfSecretMemory`; `invalidParameter` for a negative count.
    func allocate(_ count: Int) throws(CryptoError) -> Slab {
        guard count >= 0 else { throw .invalidParameter }
        guard let size = SlabAllocator.slabSize(for: count, capacity: region.byteCount) else {
            throw .outOfSecretMemory
        }
        guard let offset = slabs.wait(seconds: Self.timeout, until: { $0.allocate(size) }) else {
            throw .outOfSecretMemory
        }
        return Slab(offset: offset, size: size)
    }

    /// Wipes the slab and frees it.
    func free(_ slab: Slab) {
        unsafe sodium_memzero(address(of: slab), slab.size)
        slabs.withLockAndSignal { $0.free(slab.offset, size: slab.size) }
    }

    /// Returns the address of the slab, valid for its size until it is freed.
    func address(of slab: Slab) -> UnsafeMutableRawPointer {
        unsafe region.base + slab.offset
    }

    /// Whether the arena contains `pattern`, in allocated slabs or outside. For tests of wiping.
    package func contains(_ pattern: [UInt8]) -> Bool {
        unsafe UnsafeRawBufferPointer(start: region.base, count: region.byteCount).contains(pattern)
    }
}

/// An allocation of an arena. A plain value; its owner must free it exactly once.
struct Slab: Sendable {
    let offset: Int
    let size: Int
}
