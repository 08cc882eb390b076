import Foundation
import KeychainTree
import Testing

@testable import KeychainMount

/// F1 and F5: the information about a caller in `/proc`. F1-signals.sh tests processes that are killed.
@Suite struct CallerTests {
    private let host = SystemTreeHost(directory: "/", trim: {})

    @Test("F1: a living caller, and an unknown process, are not killed by a signal")
    func notDying() throws {
        for process in [getpid(), 1, 0, -1, Int32.max] { #expect(!host.isDyingOfSignal(process), "\(process)") }
        // A zombie is exiting, because of a signal that a test runner cannot ignore, or without a signal.
        #expect(try ended("kill -KILL $$", isDying: true))
        #expect(try ended("exit 3", isDying: false))
    }

    @Test("F5: a caller is identified by its process and start time; an unknown process has no identity")
    func identity() throws {
        let own = try #require(host.process(ofThread: getpid()))
        #expect(own.group == getpid() && own.startTime > 0)
        for thread in [0, -1, Int32.max] { #expect(host.process(ofThread: thread) == nil) }
        let before = host.uptime
        Thread.sleep(forTimeInterval: 0.01)
        #expect(host.uptime - before >= .milliseconds(10))
    }

    /// Runs a shell that has exited and has not been waited for.
    private func ended(_ command: String, isDying: Bool) throws -> Bool {
        var process = pid_t()
        let arguments: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/sh"), strdup("-c"), strdup(command), nil]
        defer { for argument in arguments { free(argument) } }
        // The threads of a test runner block signals, and a child would inherit that.
        var (attributes, none) = (posix_spawnattr_t(), sigset_t())
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let error = posix_spawn(&process, "/bin/sh", nil, &attributes, arguments, environ)
        guard error == 0 else { throw CocoaError(.executableLoad) }
        defer { waitpid(process, nil, 0) }
        let deadline = Date(timeIntervalSinceNow: 10)
        while Date() < deadline {
            let status = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            if status.contains(") Z ") { return host.isDyingOfSignal(process) == isDying }
            usleep(1000)
        }
        return false
    }
}
