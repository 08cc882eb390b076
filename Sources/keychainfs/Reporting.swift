import ArgumentParser
import Foundation
import KeychainMount

/// The output of commands: messages on standard error, results on standard output.
enum Console {
    static func message(_ text: String) {
        // If standard error is closed, the failure cannot be reported.
        try? FileHandle.standardError.write(contentsOf: Data(("keychainfs: " + text + "\n").utf8))
    }

    /// Prints a result. A result that cannot be written fails the command.
    static func result(_ text: String, terminator: String = "\n") throws(CLIError) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data((text + terminator).utf8))
        } catch {
            throw CLIError(.failure, "The result cannot be written to standard output.")
        }
    }
}

/// Runs a command. A failure ends the process with one message and its documented exit code.
///
/// - Parameter hasSecrets: Whether the process will contain a passphrase or keys. It is hardened before.
func reporting(hasSecrets: Bool = false, _ body: () throws(CLIError) -> Void) throws {
    ProcessSetup.run(hasSecrets: hasSecrets)
    do throws(CLIError) {
        try ProcessSetup.requireProc()
        try body()
    } catch {
        Console.message(error.message)
        throw ArgumentParser.ExitCode(error.exitCode.rawValue)
    }
}
