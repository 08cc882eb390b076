import ArgumentParser
import Foundation
import KeychainMount

/// Messages go to standard error, results to standard output.
enum Report {
    static func message(_ text: String) {
        // Nobody is there to be told that standard error is closed.
        try? FileHandle.standardError.write(contentsOf: Data(("keychainfs: " + text + "\n").utf8))
    }

    /// A result that cannot be delivered is a failure of the command.
    static func result(_ text: String, terminator: String = "\n") throws(Failure) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data((text + terminator).utf8))
        } catch {
            throw Failure(.failure, "The result cannot be written to standard output.")
        }
    }
}

/// Runs a command; a failure ends it with one message and its documented exit code.
///
/// `hasSecrets`: the process will hold a passphrase or keys, and is hardened before it does.
func reporting(hasSecrets: Bool = false, _ body: () throws(Failure) -> Void) throws {
    ProcessPreparation.run(hasSecrets: hasSecrets)
    do {
        try body()
    } catch {
        Report.message(error.message)
        throw ArgumentParser.ExitCode(error.exitCode.rawValue)
    }
}
