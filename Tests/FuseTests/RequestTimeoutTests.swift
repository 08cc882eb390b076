import FileSystemTesting
import Foundation
import Testing

@testable import Fuse

/// The kernel's time limit for replies.
@Suite struct RequestTimeoutTests {
    @Test(
        "L4: the default holds, or else the maximum, which limits it; at least 15 s",
        arguments: [
            (0, 0, nil), (10, 0, 15), (60, 0, 60), (0, 60, 60), (60, 30, 30), (30, 60, 30), (60, 5, 15), (-1, 0, nil),
        ] as [(Int, Int, Int?)])
    func effective(_ standard: Int, _ maximum: Int, _ seconds: Int?) {
        #expect(RequestTimeout(default: standard, maximum: maximum)?.seconds == seconds)
    }

    @Test("L4: the settings are read from the kernel; without them there is no limit; waits use 50 % of it")
    func settings() throws {
        let directory = try TemporaryDirectory()
        #expect(RequestTimeout(directory: directory.path) == nil)
        for (name, text) in [("default_request_timeout", "40\n"), ("max_request_timeout", "0\n")] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(directory.path)/\(name)"))
        }
        let timeout = try #require(RequestTimeout(directory: directory.path))
        #expect(timeout.seconds == 40 && timeout.longestWait == 20_000)
        try Data("none".utf8).write(to: URL(fileURLWithPath: "\(directory.path)/default_request_timeout"))
        #expect(RequestTimeout(directory: directory.path) == nil)
    }
}
