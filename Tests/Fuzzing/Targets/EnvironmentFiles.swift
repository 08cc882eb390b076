import SecretCrypto

@testable import KeychainCommands

/// Parses environment files.
extension FuzzTarget {
    static let environmentFiles = FuzzTarget(
        "environment-files", limit: 2048,
        words: [
            "export ", "=", "'", "\"", "\\n", "\\t", "\\\\", "\\\"", " #", "\n", "\r\n", "\u{FEFF}", "keychain:a/b",
        ],
        examples: { environmentFileExamples.map { Array($0.utf8) } }
    ) { input in
        guard let file = try? EnvironmentFile(try secret(input)) else { return }
        let lines = file.assignments.map(\.line)
        try hold(zip(lines, lines.dropFirst()).allSatisfy { $0 < $1 }, "two assignments of a line")
        let lineCount = input.count { $0 == UInt8(ascii: "\n") } + 1
        try hold((lines.last ?? 0) <= lineCount, "an assignment of a line that does not exist")
        let variables = try values(file)
        try hold(variables.allSatisfy { !$0.value.contains(0) }, "a value that an environment cannot contain")
        let again = try values(try EnvironmentFile(try secret(variables.flatMap(quoted))))
        try hold(again == variables, "another value after it was written in quotes")
        // A line behind the last one changes none of the others.
        let longer = try values(try EnvironmentFile(try secret(input + Array("\nLAST=x".utf8))))
        try hold(longer.dropLast() == variables[...], "another value before a line")
        try hold(longer.last?.value == [UInt8(ascii: "x")], "another value of the last line")
    }

    private struct Variable: Equatable {
        let name: VariableName
        let value: [UInt8]
    }

    private static func values(_ file: EnvironmentFile) throws -> [Variable] {
        try file.assignments.map { assignment in
            let value = try file.value(of: assignment)
            return Variable(name: assignment.name, value: (0..<value.count).map { value.bytes.octets[$0] })
        }
    }

    /// Returns the line that sets a variable, with its value in double quotes.
    private static func quoted(_ variable: Variable) -> [UInt8] {
        let value: [UInt8] = variable.value.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "\n"): Array(#"\n"#.utf8)
            case UInt8(ascii: "\t"): Array(#"\t"#.utf8)
            case UInt8(ascii: "\\"), UInt8(ascii: "\""): [UInt8(ascii: "\\"), byte]
            default: [byte]
            }
        }
        return Array("\(variable.name.text)=\"".utf8) + value + Array("\"\n".utf8)
    }

    private static let environmentFileExamples = [
        "", "A=b\n", "export A='b # c' # d\r\n\n# comment\nB=\"x\\n\\t\\\\\\\"\"\nA=keychain:s/x",
        "\u{FEFF}_a1= b c # d\n",
        "A=\"b", "A=\"\\x\"", "A='b' c", "1A=b", "A=#b\n\tB=''\n",
    ]
}
