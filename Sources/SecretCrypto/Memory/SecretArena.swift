import CSodium
import Glibc
package import Synchronization

/// One locked region that holds every key and every plaintext of the process, given out in slabs.
///
/// One region instead of `sodium_malloc` per secret: that costs 25 µs and five system calls each, and hides a failed
/// mlock. A slab is zero when taken and wiped at once when given back. Safe from any thread; no system call per slab.
/// A forked child sees zeros, so fork before there are secrets.
package final class SecretArena: Sendable {
    /// The arena of the process.
    package static let shared = SecretArena(capacity: sharedCapacity.load(ordering: .relaxed))

    /// What ``shared`` will have, in bytes: to be set before it is first used. 4 MiB, within the usual 8 MiB of
    /// RLIMIT_MEMLOCK, so that a program can have some of the longest values at a time.
    package static let sharedCapacity = Atomic(4 << 20)

    /// How long an allocation waits for a free slab.
    package static let timeout = 1

    private let region: LockedRegion
    private let slabs: Monitor<SlabAllocator>

    /// An arena of at least `capacity` bytes. If the system gives none every allocation fails.
    package init(capacity: Int) {
        Sodium.ensure()
        region = LockedRegion(byteCount: capacity)
        slabs = Monitor(SlabAllocator(byteCount: region.byteCount))
    }

    /// Whether the arena is locked in memory now (mlock(2); RLIMIT_MEMLOCK may forbid it).
    package var isLocked: Bool { region.isLocked }

    /// Bytes of all slabs that are taken now.
    package var bytesInUse: Int { slabs.withLock { $0.bytesInUse } }

    /// Bytes that all slabs together can have.
    package var capacity: Int { region.byteCount }

    /// A zeroed slab for `count` bytes. Waits at most `timeout` seconds for one.
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

    /// Wipes the slab and gives it back.
    func free(_ slab: Slab) {
        unsafe sodium_memzero(address(of: slab), slab.size)
        slabs.withLockAndSignal { $0.free(slab.offset, size: slab.size) }
    }

    /// Where the slab begins; valid for its size until it is given back.
    func address(of slab: Slab) -> UnsafeMutableRawPointer {
        unsafe region.base + slab.offset
    }

    /// Whether `pattern` lies anywhere in the arena, in slabs in use or not. For tests of wiping.
    package func contains(_ pattern: [UInt8]) -> Bool {
        unsafe UnsafeRawBufferPointer(start: region.base, count: region.byteCount).contains(pattern)
    }
}

/// A piece of an arena. A plain value: whoever took it gives it back once.
struct Slab: Sendable {
    let offset: Int
    let size: Int
}
