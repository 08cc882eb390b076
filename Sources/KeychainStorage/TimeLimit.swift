internal import LinuxSupport
internal import SecretCrypto
internal import SystemPackage

/// Interrupts an operation that takes too long, repeatedly until it has ended: sqlite3_interrupt affects running
/// statements only (<https://www.sqlite.org/c3ref/interrupt.html>).
final class TimeLimit: Sendable {
    private let hasEnded = Monitor(false)
    private let deadline: ContinuousClock.Instant?

    /// Starts the time limit.
    ///
    /// - Parameters:
    ///   - limit: The limit; nil for none.
    ///   - interrupt: Called on another thread, never after ``end()``.
    /// - Throws: EAGAIN if the system cannot create a thread.
    init(_ limit: Duration?, interrupt: @escaping @Sendable () -> Void) throws(Errno) {
        deadline = limit.map { .now + $0 }
        guard let limit else { return }
        try BackgroundThread.start { [hasEnded] in
            var pause = Int(limit / .milliseconds(1))
            while hasEnded.wait(milliseconds: pause, until: { $0 ? true : nil }) == nil {
                hasEnded.withLock { if !$0 { interrupt() } }
                pause = 10
            }
        }
    }

    var isExceeded: Bool { deadline.map { $0 <= .now } ?? false }

    func end() { hasEnded.withLockAndSignal { $0 = true } }
}
