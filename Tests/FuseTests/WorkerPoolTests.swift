import FileSystemTesting
import Synchronization
import Testing

@testable import Fuse

/// The roles of worker threads, without a device.
@Suite struct WorkerPoolTests {
    /// Threads that serve what a test gives them.
    private final class WorkerPoolHarness: Sendable {
        let running = Mutex(0)
        let maximum = Mutex(0)
        /// Signalled when a thread is the receiver or has yielded the role; it then waits for `resume`.
        let entered = TestSemaphore()
        let resume = TestSemaphore()
        /// The last leader stays until then.
        let end = TestSemaphore()
        /// The number of leaders that pass the lead on.
        let passes = Mutex(0)
        /// A message of the queue is in service; it ends at `finish`.
        let serving = TestSemaphore()
        let finish = TestSemaphore()

        func work(_ workers: WorkerPool) {
            let count = running.withLock { running in
                running += 1
                return running
            }
            maximum.withLock { $0 = max($0, count) }
            defer { running.withLock { $0 -= 1 } }
            var hasServed = false
            while true {
                let task = workers.nextTask(hasServed: hasServed, tidying: {})
                hasServed = false
                switch task {
                case .exit: return
                case .serve(let message):
                    serving.signal()
                    finish.wait()
                    message.buffers.release(message.lease)
                    hasServed = true
                case .receive:
                    let passes = passes.withLock { passes in
                        defer { passes -= passes > 0 ? 1 : 0 }
                        return passes > 0
                    }
                    guard passes else {
                        entered.signal()
                        end.wait()
                        return workers.end()
                    }
                    workers.promoteNextReceiver()
                    entered.signal()
                    resume.wait()
                }
            }
        }
    }

    @Test("the pool has as many threads as requests that block at the same time; idle threads exit, except four")
    func spareThreadsEnd() throws {
        let harness = WorkerPoolHarness()
        let workers = WorkerPool(limit: 20) { harness.work($0) }
        harness.passes.withLock { $0 = 12 }
        let runner = TestThread.started {
            try? workers.start()
            _ = workers.join(milliseconds: 60_000)
        }
        for _ in 0..<13 { harness.entered.wait() }
        #expect(harness.running.withLock { $0 } == 13)
        // The leader stays; the twelve park.
        for _ in 0..<12 { harness.resume.signal() }
        #expect(eventually(seconds: 20) { harness.running.withLock { $0 } == 5 })
        harness.end.signal()
        #expect(runner.join(seconds: 10))
        #expect(harness.running.withLock { $0 } == 0 && harness.maximum.withLock { $0 } == 13)
    }

    @Test("the receiver serves a message itself if no other thread does; others queue, and the limit holds")
    func queue() throws {
        let buffers = MessageBufferPool(size: MessageBuffer.shortSize, limit: 8)
        func message() throws -> WorkerPool.Message {
            WorkerPool.Message(lease: try buffers.acquire(), buffers: buffers)
        }
        let idle = WorkerPool(limit: 4) { _ in }
        #expect(try !idle.dispatch(message()))
        let harness = WorkerPoolHarness()
        let workers = WorkerPool(limit: 2) { harness.work($0) }
        harness.passes.withLock { $0 = 1 }
        let runner = TestThread.started {
            try? workers.start()
            _ = workers.join(milliseconds: 60_000)
        }
        // One has yielded its role and waits, one receives.
        for _ in 0..<2 { harness.entered.wait() }
        for _ in 0..<5 { #expect(try workers.dispatch(message())) }
        for _ in 0..<2 { #expect(harness.serving.wait(seconds: 10)) }
        #expect(!harness.serving.wait(seconds: 0.1))
        #expect(harness.running.withLock { $0 } == 4)
        for _ in 0..<3 {
            harness.finish.signal()
            #expect(harness.serving.wait(seconds: 10))
        }
        for _ in 0..<2 { harness.finish.signal() }
        harness.resume.signal()
        harness.end.signal()
        #expect(runner.join(seconds: 10))
    }

    @Test("a receiver that yields finds another one although all threads that may wait do")
    func yieldingAtTheLimit() throws {
        let buffers = MessageBufferPool(size: MessageBuffer.shortSize, limit: 8)
        let harness = WorkerPoolHarness()
        let workers = WorkerPool(limit: 1) { harness.work($0) }
        harness.passes.withLock { $0 = 6 }
        let runner = TestThread.started {
            try? workers.start()
            _ = workers.join(milliseconds: 60_000)
        }
        for _ in 0..<7 { harness.entered.wait() }
        #expect(harness.running.withLock { $0 } == 7)
        #expect(try workers.dispatch(WorkerPool.Message(lease: buffers.acquire(), buffers: buffers)))
        #expect(harness.serving.wait(seconds: 10))
        harness.finish.signal()
        for _ in 0..<6 { harness.resume.signal() }
        harness.end.signal()
        #expect(runner.join(seconds: 10))
    }
}
