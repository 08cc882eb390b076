package import SecretCrypto

/// The assignments of an environment file, lines `NAME=VALUE` (contract, E6). A class, because an array cannot contain secrets
/// otherwise.
package final class EnvironmentFile: Sendable {
    /// The reason why a line is refused. No part of the line is in a message, because it may be a secret.
    package struct ParseError: Error, Hashable, Sendable {
        package enum Reason: String, Error, Sendable {
            case noSign = "it is not NAME=VALUE"
            case name = "the name of a variable has only letters, digits and '_', and does not begin with a digit"
            case quote = "a quoted value must end on its line, and only a comment can follow it"
            case escape =
                "in double quotes, a backslash must be followed by n, t, \\ or \"; single quotes keep backslashes"
            case zero = "it contains a zero byte"
        }

        /// The number of the line, from 1.
        package let line: Int
        package let reason: Reason
    }

    /// A line that sets a variable.
    package struct Assignment: Hashable, Sendable {
        package let name: VariableName
        package let line: Int
        /// The bytes of the value, without quotes.
        let range: Range<Int>
        /// Whether the value has escape sequences.
        let hasEscapes: Bool
    }

    package let assignments: [Assignment]
    private let contents: SecretBytes

    package init(_ contents: consuming SecretBytes) throws(ParseError) {
        assignments = try EnvironmentLines.assignments(in: contents.bytes.octets)
        self.contents = contents
    }

    /// Returns the value of an assignment of this file: bytes, without quotes and with its escape sequences replaced.
    package func value(of assignment: Assignment) throws(CryptoError) -> SecretBytes {
        assignment.hasEscapes
            ? try EnvironmentLines.unescaped(contents, assignment.range)
            : try contents.slice(assignment.range)
    }
}
