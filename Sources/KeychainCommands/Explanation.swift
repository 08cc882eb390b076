package import KeychainMount

/// The reason why a file of a keychain cannot be read, written or created now, or that it can be (contract, E14).
package struct Explanation: Sendable {
    package let text: String
    /// The exit code with which the operation would end.
    package let exitCode: ExitCode

    /// Finds out by trying, without a change.
    package init(of name: ItemName) {
        do throws(CLIError) {
            (text, exitCode) = (try AccessTrial(of: name).result(), .success)
        } catch {
            (text, exitCode) = (error.message, error.exitCode)
        }
    }
}
