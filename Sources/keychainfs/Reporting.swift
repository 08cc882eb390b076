import ArgumentParser
import Foundation
import Glibc
import KeychainMount
import SecretCrypto

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
            throw unwritten
        }
    }

    /// Prints a secret, bytes unchanged, directly from locked memory.
    static func result(_ secret: borrowing SecretBytes) throws(CLIError) {
        guard (try? secret.write(to: STDOUT_FILENO)) != nil else { throw unwritten }
    }

    private static let unwritten = CLIError(.failure, "The result cannot be written to standard output.")
}

/// The reaction of a command to a mistake in the user's settings (contract, E16).
enum SettingsUse {
    /// It fails before anything is done.
    case required
    /// It warns and uses the valid lines, because a mistake must not prevent it.
    case optional
    /// It uses none of them.
    case none

    func apply() throws(CLIError) {
        switch self {
        case .required: try Settings.current.require()
        case .optional: for problem in Settings.current.problems { Console.message("warning: \(problem.message)") }
        case .none: break
        }
    }
}

/// Runs a command. A failure ends the process with one message and its documented exit code.
///
/// - Parameters:
///   - hasSecrets: Whether the process will contain a secret, a passphrase or keys. It is hardened before.
///   - withoutProc: The exit code if /proc is not mounted.
func reporting(
    hasSecrets: Bool = false, withoutProc: KeychainMount.ExitCode = .failure, settings: SettingsUse = .required,
    _ body: () throws(CLIError) -> Void
) throws {
    try reporting(
        setup: { ProcessSetup.run(hasSecrets: hasSecrets) }, withoutProc: withoutProc, settings: settings, body)
}

/// Runs a command after this setup of the process.
func reporting(
    setup: () -> Void, withoutProc: KeychainMount.ExitCode, settings: SettingsUse = .required,
    _ body: () throws(CLIError) -> Void
) throws {
    setup()
    do throws(CLIError) {
        try ProcessSetup.requireProc(withoutProc)
        try settings.apply()
        try body()
    } catch {
        Console.message(error.message)
        throw ArgumentParser.ExitCode(error.exitCode.rawValue)
    }
}
