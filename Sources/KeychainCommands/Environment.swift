package import KeychainMount
import LinuxSupport
import SecretCrypto
import SystemPackage

/// The variables that `run` adds to the environment of a program, in locked memory.
package struct Environment: ~Copyable, Sendable {
    /// The greatest size of a variable for execve(2) in bytes, with its name, the sign and a zero byte (MAX_ARG_STRLEN for pages
    /// of 4 KiB).
    static let variableLimit = 128 << 10
    /// The greatest size of all variables together in bytes.
    private static let limit = 512 << 10

    /// The variables, `NAME=VALUE`, each followed by a zero byte.
    private var assignments: SecretBytes
    private var count = 0
    private var names: Set<String> = []

    package init() throws(CLIError) {
        do throws(CryptoError) {
            assignments = try SecretBytes(count: Self.limit)
        } catch {
            throw CLIError(error, reading: "The environment")
        }
    }

    package func contains(_ name: VariableName) -> Bool { names.contains(name.text) }

    /// Returns the greatest size of a value in bytes.
    static func valueLimit(_ name: VariableName) -> Int { variableLimit - name.text.utf8.count - 2 }

    /// Adds a variable.
    ///
    /// - Parameter source: Where the value comes from, for messages.
    /// - Throws: `impossible` if an environment cannot contain the value.
    mutating func add(_ name: VariableName, _ value: borrowing SecretBytes, from source: String) throws(CLIError) {
        let (text, octets) = (Array((name.text + "=").utf8), value.bytes.octets)
        guard !octets.indices.contains(where: { octets[$0] == 0 }) else {
            throw CLIError(.impossible, "\(source) contains a zero byte, which ends a variable.")
        }
        guard octets.count <= Self.valueLimit(name) else {
            throw CLIError(
                .impossible, "\(source) is too long for a variable: it has 128 KiB at most, with its name.")
        }
        let size = text.count + octets.count + 1
        guard size <= assignments.count - count else {
            throw CLIError(
                .impossible, "\(source) is too long for the environment: all new variables have 512 KiB at most.")
        }
        for (index, byte) in text.enumerated() { assignments.set(byte, at: count + index) }
        assignments.copy(value.bytes, at: count + text.count)
        assignments.set(0, at: count + size - 1)
        count += size
        names.insert(name.text)
    }

    /// Replaces this process by the program that its last arguments name. Returns only by throwing.
    ///
    /// - Parameters:
    ///   - arguments: The number of these arguments, the program's name included.
    ///   - program: The program's name, for messages.
    /// - Throws: `noProgram`, `notExecutable`.
    package func execute(lastArguments arguments: Int, program: String) throws(CLIError) -> Never {
        let error = ProgramArguments.execute(last: arguments, adding: assignments.bytes.extracting(0..<count))
        let shown = Printable.text(program)
        switch error {
        case .noSuchFileOrDirectory, .notDirectory:
            throw CLIError(.noProgram, "\(shown) cannot be executed: there is no such program.")
        case .argListTooLong:
            throw CLIError(
                .notExecutable, "\(shown) cannot be executed: its arguments and its environment are too long together.")
        default: throw CLIError(.notExecutable, "\(shown) cannot be executed: \(error).")
        }
    }
}
