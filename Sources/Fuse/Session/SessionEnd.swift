/// The end of a session.
public struct SessionEnd: Sendable {
    /// The time when nothing more was received.
    public let time = ContinuousClock.now
    /// Whether all threads have exited. Otherwise some wait, usually for a disk, and use the file system when they continue: the
    /// process should end with _exit(2), and must not close what they use.
    public internal(set) var isComplete = false

    /// The time in milliseconds after which the connection is closed although requests wait: no view shows anything any more.
    static let connectionLimit = 700
    /// The time in milliseconds during which requests that were received may complete.
    public static let threadLimit = 4000

    /// Returns the rest of a limit in milliseconds; at least 1, so that a condition is evaluated.
    public func millisecondsLeft(of limit: Int) -> Int {
        let passed = (ContinuousClock.now - time).components
        return max(1, limit - Int(passed.seconds) * 1000 - Int(passed.attoseconds / 1_000_000_000_000_000))
    }
}
