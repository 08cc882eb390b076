import CFuse3
import Glibc

/// Bytes of an answer that are zeroed when it has been sent.
///
/// @unchecked: one thread fills it, hands it over, and then nobody changes it.
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

    /// Room that is left, in bytes.
    var freeBytes: Int { capacity - count }

    /// Counts `size` bytes as filled, which the caller has written behind those before; at most ``room``.
    func fill(_ size: Int) { count += min(size, freeBytes) }
}
