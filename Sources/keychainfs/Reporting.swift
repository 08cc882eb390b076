import ArgumentParser
import Foundation
import KeychainMount

/// Messages go to standard error, results to standard output.
enum Console {
    static func message(_ text: String) {
        // Nobody is there to be told that standard error is closed.
        try? FileHandle.standardError.write(contentsOf: Data(("keychainfs: " + text + "\n").utf8))
    }

    /// A result that cannot be delivered is a failure of the command.
    static func result(_ text: String, terminator: String = "\n") throws(CLIError) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data((text + terminator).utf8))
        } catch {
            throw CLIError(.failure, "The result cannot be written to standard output.")
        }
    }
}

/// Runs a command; a failure ends it with one message and its documented exit code.
///
/// `hasSecrets`: the process will hold a passphrase or keys, and is hardened before it does.
func reporting(hasSecrets: Bool = false, _ body: () throws(CLIError) -> Void) throws {
    ProcessSetup.run(hasSecrets: hasSecrets)
    do {
        try body()
    } catch {
        Console.message(error.message)
        throw ArgumentParser.ExitCode(error.exitCode.rawValue)
    }
}
