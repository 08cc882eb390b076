import Synchronization

/// That the store's disk had far more room a moment ago than all that can be written until it is asked again.
final class FreeSpaceEstimate: Sendable {
    /// For how long that is taken for granted.
    private static let lifetime: Duration = .milliseconds(100)
    /// In bytes: what others cannot use up meanwhile.
    private static let margin: UInt64 = 1 << 30

    private let ampleUntil = Mutex<Duration?>(nil)

    /// The disk has been asked: it has so many bytes for commits of values of at most `longest` bytes.
    func note(_ available: UInt64, longest: Int, at now: Duration) {
        let isAmple = available / 16 > UInt64(clamping: longest) && available > Self.margin
        ampleUntil.withLock { $0 = isAmple ? now + Self.lifetime : nil }
    }

    func isAmple(at now: Duration) -> Bool {
        ampleUntil.withLock { $0.map { now < $0 } ?? false }
    }
}
