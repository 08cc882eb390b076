/// The command line of a command that runs a program: `run [OPTION…] [--] PROGRAM [ARGUMENT…]`. The first word that is not an option
/// ends the options, as for env(1), which the argument parser cannot express.
package struct ProgramWords: Sendable {
    /// The commands of this program, with their options that have a value.
    package static let ofProgram: [String: Set<String>] = ["run": ["--env", "--env-folder", "--env-file"]]

    private let commands: [String: Set<String>]

    package init(commands: [String: Set<String>] = Self.ofProgram) { self.commands = commands }

    /// Returns the words of a command line, the command first, with a `--` before the program.
    package func completed(_ words: [String]) -> [String] {
        guard let options = words.first.flatMap({ commands[$0] }) else { return words }
        var index = 1
        while index < words.count, words[index] != "--" {
            guard words[index] != "-", words[index].utf8.first == UInt8(ascii: "-") else {
                return words[..<index] + ["--"] + words[index...]
            }
            index += options.contains(words[index]) ? 2 : 1
        }
        return words
    }
}
