import Foundation
import Glibc

/// Runs a program in a separate session and returns its complete output.
///
/// Does not use Foundation's `Process`, which waits for every descendant that has inherited its descriptors.
enum Command {
    struct Result {
        let code: Int32
        let output: String
    }

    /// Runs the program. After `seconds` it and all its descendants are killed, and the result reports it.
    static func run(
        _ command: [String], environment: [String: String] = [:], directory: String = "/", seconds: Int = 60
    ) throws -> Result {
        // A file, not a pipe: a daemon that keeps the descriptor open must not delay the test.
        let output = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { unlink(output) }
        let variables = environment.map { "\($0)=\($1)" }
        let arguments =
            ["/usr/bin/env", "--chdir=\(directory)"] + variables
            + ["setsid", "--wait", "timeout", "--kill-after=5", "\(seconds)"] + command
        let code = try wait(for: try spawn(arguments, output: output))
        let text = String(decoding: (try? Data(contentsOf: URL(fileURLWithPath: output))) ?? Data(), as: UTF8.self)
        return Result(code: code, output: text)
    }

    private static func spawn(_ arguments: [String], output: String) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        let pointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The threads of a test runner block signals, and a child would inherit that.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var process = pid_t()
        let error = posix_spawn(&process, arguments[0], &actions, &attributes, pointers, environ)
        guard error == 0 else { throw CommandError(message: "posix_spawn: \(error)") }
        return process
    }

    /// The exit status, or 128 and the number of the signal.
    private static func wait(for process: pid_t) throws -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { throw CommandError(message: "waitpid: \(errno)") }
        }
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }
}
