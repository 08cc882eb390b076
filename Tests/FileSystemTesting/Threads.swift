import Foundation
import Synchronization

/// A counting semaphore.
public final class TestSemaphore: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    public init() {}
    public func signal() { semaphore.signal() }
    public func wait() { semaphore.wait() }
    /// Whether it was signalled in time.
    public func wait(seconds: Double) -> Bool { semaphore.wait(timeout: .now() + seconds) == .success }
}

/// A thread that blocks as it likes: tests must not block those of Swift's concurrency.
public final class TestThread: Sendable {
    private let body: @Sendable () -> Void
    private let done = TestSemaphore()

    public init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    public func start() {
        let body = body
        let done = done
        Foundation.Thread.detachNewThread {
            body()
            done.signal()
        }
    }

    /// Waits for its end; false if it takes longer.
    public func join(seconds: Double = 60) -> Bool {
        guard done.wait(seconds: seconds) else { return false }
        // For later calls.
        done.signal()
        return true
    }

    public static func started(_ body: @escaping @Sendable () -> Void) -> TestThread {
        let thread = TestThread(body)
        thread.start()
        return thread
    }
}

/// Polls until `condition` is true; false if it does not become true in time.
public func eventually(seconds: Double = 10, _ condition: () throws -> Bool) rethrows -> Bool {
    let end = Date(timeIntervalSinceNow: seconds)
    while Date() < end {
        if try condition() { return true }
        usleep(2000)
    }
    return try condition()
}

/// A state behind a lock, for file systems in tests: what `Mutex` is, without its rules about what may leave it.
///
/// @unchecked: `state` is touched only while `lock` is held.
public final class MutexBox<State>: @unchecked Sendable {
    private let lock = NSLock()
    private var state: State

    public init(_ state: State) { self.state = state }

    public func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }
}
