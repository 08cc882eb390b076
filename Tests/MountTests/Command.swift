import Foundation

/// Runs a program to its end, in a session of its own, with everything it says.
enum Command {
    struct Result {
        let code: Int32
        let output: String
    }

    /// After `seconds` the program and all it started are killed, and the result says so.
    static func run(
        _ command: [String], environment: [String: String] = [:], directory: String = "/", seconds: Double = 60
    ) throws -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["setsid", "--wait", "timeout", "--kill-after=5", "\(seconds)"] + command
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.currentDirectoryURL = URL(fileURLWithPath: directory)
        // A file, not a pipe: a daemon that keeps the descriptor open must not hold the test up.
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: file) }
        let handle = try FileHandle(forWritingTo: file)
        process.standardOutput = handle
        process.standardError = handle
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try? handle.close()
        let output = String(decoding: (try? Data(contentsOf: file)) ?? Data(), as: UTF8.self)
        return Result(code: process.terminationStatus, output: output)
    }
}
