import ArgumentParser
import Foundation
import KeychainMount

/// Messages go to standard error, results to standard output.
enum Report {
    static func message(_ text: String) {
        FileHandle.standardError.write(Data(("keychainfs: " + text + "\n").utf8))
    }

    static func result(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}

/// Runs a command; a failure ends it with one message and its documented exit code.
func reporting(_ body: () throws(Failure) -> Void) throws {
    do {
        try body()
    } catch {
        Report.message(error.message)
        throw ArgumentParser.ExitCode(error.exitCode.rawValue)
    }
}
