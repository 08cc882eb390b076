import Synchronization

/// Counts the bytes of released values since memory was last returned to the system.
///
/// Long values leave holes in the heap, which glibc retains: after a thousand open files a daemon would keep its peak
/// size.
final class ReleasedMemory: Sendable {
    /// The number of bytes after which memory is returned, which takes about a millisecond.
    private static let threshold = 32 << 20
    private let bytes = Atomic(0)

    /// Adds released bytes. Returns whether memory should be returned to the system now.
    func add(_ count: Int) -> Bool {
        guard count > 0, bytes.wrappingAdd(count, ordering: .relaxed).newValue >= Self.threshold else { return false }
        // Only one of several threads that reach the threshold returns true.
        return bytes.exchange(0, ordering: .relaxed) >= Self.threshold
    }
}
