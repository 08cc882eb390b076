import FileSystemTesting

/// A point at which a thread blocks until the test lets it continue: a disk that is slow.
final class Block: Sendable {
    private let entered = TestSemaphore()
    private let released = TestSemaphore()

    func enter() {
        entered.signal()
        released.wait()
    }

    /// Whether a thread has arrived.
    func hasEntered() -> Bool { entered.wait(seconds: 10) }

    func release() { released.signal() }
}
