import FileSystemTesting
import Synchronization
import Testing

@testable import Fuse

/// Who leads, who serves and who ends, without a device.
@Suite struct WorkersTests {
    /// Threads that serve what a test gives them.
    private final class Crew: Sendable {
        let running = Mutex(0)
        let most = Mutex(0)
        /// Somebody leads, or has passed the lead on; then it waits for `goOn`.
        let entered = TestSemaphore()
        let goOn = TestSemaphore()
        /// The last leader stays until then.
        let end = TestSemaphore()
        /// So many leaders pass the lead on.
        let passes = Mutex(0)

        func work(_ workers: Workers) {
            let count = running.withLock { running in
                running += 1
                return running
            }
            most.withLock { $0 = max($0, count) }
            defer { running.withLock { $0 -= 1 } }
            while true {
                switch workers.park(tidying: {}) {
                case .end: return
                case .serve: break
                case .lead:
                    let passes = passes.withLock { passes in
                        defer { passes -= passes > 0 ? 1 : 0 }
                        return passes > 0
                    }
                    guard passes else {
                        entered.signal()
                        end.wait()
                        return workers.end()
                    }
                    workers.passLead()
                    entered.signal()
                    goOn.wait()
                }
            }
        }
    }

    @Test("as many threads as requests wait at once; those that have nothing to do for long end, but for four")
    func spareThreadsEnd() throws {
        let crew = Crew()
        let workers = Workers(limit: 20) { crew.work($0) }
        crew.passes.withLock { $0 = 12 }
        let runner = TestThread.started { try? workers.run() }
        for _ in 0..<13 { crew.entered.wait() }
        #expect(crew.running.withLock { $0 } == 13)
        // The leader stays; the twelve park.
        for _ in 0..<12 { crew.goOn.signal() }
        #expect(eventually(seconds: 20) { crew.running.withLock { $0 } == 5 })
        crew.end.signal()
        #expect(runner.join(seconds: 10))
        #expect(crew.running.withLock { $0 } == 0 && crew.most.withLock { $0 } == 13)
    }

    @Test("a message is given to another thread only while one is serving, and there can be one more")
    func delegation() throws {
        let buffers = MessageBuffers(size: MessageBuffer.shortSize, limit: 8)
        let idle = Workers(limit: 4) { _ in }
        #expect(try !idle.delegate(buffers.take()))
        let crew = Crew()
        let workers = Workers(limit: 3) { crew.work($0) }
        crew.passes.withLock { $0 = 2 }
        let runner = TestThread.started { try? workers.run() }
        for _ in 0..<3 { crew.entered.wait() }
        // Two serve, one leads: there can be no more.
        #expect(try !workers.delegate(buffers.take()))
        for _ in 0..<2 { crew.goOn.signal() }
        crew.end.signal()
        #expect(runner.join(seconds: 10))
    }
}
