import CSodium
import Glibc
import Synchronization

/// Random 24-byte nonces without a system call each: taken from the kernel a page at a time.
///
/// A nonce must never come twice under one key. So the pool and its fill level lie in memory that a forked child
/// sees as zeros (empty); where the kernel has no such memory each nonce is asked for singly. And as a virtual
/// machine that is resumed twice would give the rest of the pool twice, the time is mixed in: uniform bytes stay so.
final class NoncePool: Sendable {
    static let shared = NoncePool()
    static let nonceCount = 24

    /// The first eight bytes of the region: how many nonces are left; the nonces follow.
    private let region: Mutex<LockedRegion>
    private static let headerCount = 8

    private init() {
        Sodium.ensure()
        region = Mutex(LockedRegion(byteCount: 4096))
    }

    /// Writes a fresh nonce to `output`, which has room for 24 bytes.
    func next(into output: UnsafeMutableRawPointer) {
        let isTaken = region.withLock { region in
            guard region.isWipedOnFork, region.byteCount > 0 else { return false }
            unsafe Self.take(from: region.base, byteCount: region.byteCount, into: output)
            return true
        }
        guard isTaken else { return unsafe randombytes_buf(output, Self.nonceCount) }
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        let time = UInt64(truncatingIfNeeded: now.tv_sec) << 32 ^ UInt64(truncatingIfNeeded: now.tv_nsec)
        unsafe output.storeBytes(of: output.loadUnaligned(as: UInt64.self) ^ time, as: UInt64.self)
    }

    private static func take(from base: UnsafeMutableRawPointer, byteCount: Int, into output: UnsafeMutableRawPointer) {
        var left = unsafe base.load(as: Int.self)
        if left == 0 {
            left = (byteCount - headerCount) / nonceCount
            unsafe randombytes_buf(base + headerCount, left * nonceCount)
        }
        left -= 1
        unsafe memcpy(output, base + headerCount + left * nonceCount, nonceCount)
        unsafe base.storeBytes(of: left, as: Int.self)
    }
}
