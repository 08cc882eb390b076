import FileSystemCore
import FileSystemTesting
import Foundation

/// A thread that runs `body` and signals each wait that it announces.
final class WaitingThread: Sendable {
    private let thread: TestThread
    private let announced: TestSemaphore

    init(_ body: @escaping @Sendable () -> Void) {
        let announced = TestSemaphore()
        self.announced = announced
        Self.observesWaits
        thread = TestThread.started {
            Thread.current.threadDictionary[Self.key] = announced
            body()
        }
    }

    /// Whether it has announced a wait, one for each call.
    func waits(seconds: Double = 10) -> Bool { announced.wait(seconds: seconds) }

    func ends(seconds: Double = 10) -> Bool { thread.join(seconds: seconds) }

    private static let key = "WaitingThread"

    private static let observesWaits: Void = RequestWait.observe {
        (Thread.current.threadDictionary[key] as? TestSemaphore)?.signal()
    }
}
