import Synchronization

/// How much values that nobody has open any more have taken, since memory was last given back to the system.
///
/// Long values leave holes in the heap, which it keeps for itself: after a thousand open files a daemon would stay as
/// large as it was then.
final class ReleasedMemory: Sendable {
    /// In bytes. Giving back costs about a millisecond.
    private static let threshold = 32 << 20
    private let bytes = Atomic(0)

    /// Whether it is time to give memory back.
    func add(_ count: Int) -> Bool {
        guard count > 0, bytes.wrappingAdd(count, ordering: .relaxed).newValue >= Self.threshold else { return false }
        // Of those who find it so, one does it.
        return bytes.exchange(0, ordering: .relaxed) >= Self.threshold
    }
}
