import Foundation
import KeychainTree
import Testing

@testable import KeychainMount

/// F1 and F5: what the system tells of a caller; a process that dies is tried in F1-signals.sh.
@Suite struct CallerTests {
    private let host = SystemTreeHost(directory: "/", trim: {})

    @Test("F1: a caller that lives, and one that cannot be looked at, is not dying of a signal")
    func notDying() throws {
        for process in [getpid(), 1, 0, -1, Int32.max] { #expect(!host.isDyingOfSignal(process), "\(process)") }
        // A zombie is on its way out: of a signal (one that a runner of tests cannot have ignored) or not.
        #expect(try ended("kill -KILL $$", isDying: true))
        #expect(try ended("exit 3", isDying: false))
    }

    @Test("F5: a caller is its process and when it began; one that cannot be looked at is nobody")
    func identity() throws {
        let own = try #require(host.process(ofThread: getpid()))
        #expect(own.group == getpid() && own.startTime > 0)
        for thread in [0, -1, Int32.max] { #expect(host.process(ofThread: thread) == nil) }
        let before = host.uptime
        Thread.sleep(forTimeInterval: 0.01)
        #expect(host.uptime - before >= .milliseconds(10))
    }

    /// A shell that has ended and that nobody has waited for.
    private func ended(_ command: String, isDying: Bool) throws -> Bool {
        var process = pid_t()
        let arguments: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/sh"), strdup("-c"), strdup(command), nil]
        defer { for argument in arguments { free(argument) } }
        // The threads of a test runner block signals, and a child would go on so.
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
