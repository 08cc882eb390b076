import CSodium
import Glibc
import Synchronization

/// A supply of random 24-byte nonces, read from the kernel one page at a time to save system calls.
///
/// A nonce must never occur twice under one key. The pool and its fill level are therefore in memory that a forked
/// child sees as zeros (empty). Without such memory each nonce is read from the kernel separately. A virtual machine that
/// is resumed twice would return the rest of the pool twice, so each nonce is combined with the time; this keeps it
/// uniformly distributed.
final class NoncePool: Sendable {
    static let shared = NoncePool()
    static let nonceCount = 24

    /// The pool: eight bytes with the number of remaining nonces, then the nonces.
    private let region: Mutex<LockedRegion>
    private static let headerCount = 8

    private init() {
        Sodium.ensure()
        region = Mutex(LockedRegion(byteCount: 4096))
    }

    /// Writes a new nonce of 24 bytes to `output`.
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
