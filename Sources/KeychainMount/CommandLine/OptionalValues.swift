/// Options whose value may be left out: `--wait`, or `--wait=TIME`. A word after `--wait` is not its value, but the next argument,
/// which the argument parser cannot express.
package struct OptionalValues: Sendable {
    /// The options of this program.
    package static let ofProgram = ["get": ["--wait": "60s"], "add": ["--generate": "24"]]

    private let commands: [String: [String: String]]

    /// - Parameter commands: For each command the options, with the value that each has if it is left out.
    package init(commands: [String: [String: String]] = Self.ofProgram) { self.commands = commands }

    /// Returns the words of a command line, the command first, with the values.
    package func completed(_ words: [String]) -> [String] {
        guard let options = words.first.flatMap({ commands[$0] }) else { return words }
        let end = words.firstIndex(of: "--") ?? words.endIndex
        return words[..<end].map { word in options[word].map { "\(word)=\($0)" } ?? word } + words[end...]
    }
}
