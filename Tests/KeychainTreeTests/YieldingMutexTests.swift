import FileSystemTesting
import Testing

@testable import KeychainTree

@Suite struct YieldingMutexTests {
    private final class Guarded: Sendable {
        let numbers = YieldingMutex<[Int]>([])
    }

    /// Starts threads that append their numbers; each one has announced its wait before the next one starts.
    private func waiting(_ count: Int, for guarded: Guarded) -> [WaitingThread] {
        (0..<count).map { number in
            let thread = WaitingThread { guarded.numbers.withLock { $0.append(number) } }
            #expect(thread.waits())
            return thread
        }
    }

    @Test("threads get the mutex in the order of their announcements, and try in vain while others wait")
    func order() {
        let (guarded, count) = (Guarded(), 50)
        let threads = guarded.numbers.withLock { _ in
            let threads = waiting(count, for: guarded)
            #expect(guarded.numbers.withLockIfAvailable { _ in } == nil)
            return threads
        }
        for thread in threads { #expect(thread.ends()) }
        #expect(guarded.numbers.withLock { $0 } == Array(0..<count))
        #expect(guarded.numbers.withLockIfAvailable { $0.count } == count)
    }

    @Test("an error of the body reaches a caller that had to wait, and the mutex is free afterwards")
    func errors() {
        let guarded = Guarded()
        let found = MutexBox<Bool>(false)
        let thread = guarded.numbers.withLock { _ in
            let thread = WaitingThread {
                do { try guarded.numbers.withLock { _ in throw CancellationError() } } catch {
                    found.withLock { $0 = true }
                }
            }
            #expect(thread.waits())
            return thread
        }
        #expect(thread.ends() && found.withLock { $0 })
        #expect(guarded.numbers.withLockIfAvailable { _ in } != nil)
    }

    @Test("it excludes: 8 threads that increment lose nothing")
    func exclusion() {
        let guarded = Guarded()
        guarded.numbers.withLock { $0 = [0] }
        let threads = (0..<8).map { _ in
            TestThread.started { for _ in 0..<2000 { guarded.numbers.withLock { $0[0] += 1 } } }
        }
        for thread in threads { #expect(thread.join(seconds: 60)) }
        #expect(guarded.numbers.withLock { $0 } == [16_000])
    }
}
