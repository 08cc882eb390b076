import CFuse3
import Glibc

/// The bytes of a reply, which are zeroed after it has been sent.
///
/// @unchecked: one thread fills the buffer and passes it on; afterwards it does not change.
@safe final class WipingBuffer: @unchecked Sendable {
    let start: UnsafeMutableRawPointer
    let capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = capacity
        unsafe start = .allocate(byteCount: max(capacity, 1), alignment: 16)
    }

    convenience init(copying bytes: RawSpan) {
        self.init(capacity: bytes.byteCount)
        unsafe bytes.withUnsafeBytes { source in
            if let base = source.baseAddress { unsafe start.copyMemory(from: base, byteCount: source.count) }
        }
        count = bytes.byteCount
    }

    deinit {
        unsafe explicit_bzero(start, capacity)
        unsafe start.deallocate()
    }

    /// The number of bytes that can still be filled.
    var freeBytes: Int { capacity - count }

    /// Adds `size` bytes, at most ``freeBytes``, which the caller has written after the previous ones.
    func fill(_ size: Int) { count += min(size, freeBytes) }
}
