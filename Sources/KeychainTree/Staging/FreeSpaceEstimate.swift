import Synchronization

/// An estimate that the store's disk has far more space than can be written before the next query.
final class FreeSpaceEstimate: Sendable {
    /// The lifetime of an estimate.
    private static let lifetime: Duration = .milliseconds(100)
    /// The margin in bytes, which other programs cannot use up in that time.
    private static let margin: UInt64 = 1 << 30

    private let ampleUntil = Mutex<Duration?>(nil)

    /// Records the result of a query: the bytes available for commits of values of at most `longest` bytes.
    func note(_ available: UInt64, longest: Int, at now: Duration) {
        let isAmple = available / 16 > UInt64(clamping: longest) && available > Self.margin
        ampleUntil.withLock { $0 = isAmple ? now + Self.lifetime : nil }
    }

    func isAmple(at now: Duration) -> Bool {
        ampleUntil.withLock { $0.map { now < $0 } ?? false }
    }
}
