import FileSystemTesting
import Testing

@testable import KeychainMount

/// Memory is returned to the system by a thread that serves no request.
@Suite struct MemoryTrimTests {
    @Test("a request does not wait; many within a second cause one run; the end waits for none")
    func requests() throws {
        let runs = TestSemaphore()
        let trim = MemoryTrim { runs.signal() }
        try trim.start()
        for _ in 0..<100 { trim.request() }
        #expect(runs.wait(seconds: 30))
        #expect(!runs.wait(seconds: 1.5))
        trim.request()
        trim.cancel()
        #expect(!runs.wait(seconds: 0))
    }
}
