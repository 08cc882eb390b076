/// A command line whose command does not exist, with the remedy.
package struct UnknownCommand: Sendable {
    private let word: String
    /// The path of the command whose subcommand does not exist: "keychainfs slot".
    private let parent: String
    private let known: [CommandName]

    /// Returns nil if the command exists, or if the command line is an error of another kind.
    ///
    /// - Parameters:
    ///   - words: The command line without the name of the program.
    ///   - program: The program with all of its commands.
    package init?(_ words: [String], of program: CommandName) {
        var words = words[...]
        if words.first == "help" { words = words.dropFirst() }
        var command = program
        var path = program.name
        while !command.subcommands.isEmpty, let word = words.popFirst(), !word.hasPrefix("-"), !word.isEmpty {
            guard let next = command.subcommands.first(where: { $0.name == word }) else {
                self.word = word
                parent = path
                known = command.subcommands.filter(\.isShown)
                return
            }
            command = next
            path += " " + word
        }
        return nil
    }

    /// - Parameter mountPoint: The default mount point, for examples.
    package func message(mountPoint: String) -> String {
        "There is no command '\(Printable.text(word))'. \(advice(mountPoint: mountPoint))"
    }

    private func advice(mountPoint: String) -> String {
        if !parent.contains(" "), let advice = ForeignCommand.advice(word, mountPoint: mountPoint) { return advice }
        let distances = known.map { ($0.name, EditDistance.between(word.lowercased(), $0.name)) }
        if let (name, distance) = distances.min(by: { $0.1 < $1.1 }), distance <= max(1, word.count / 3) {
            return "Did you mean '\(parent) \(name)'?"
        }
        return "'\(parent) --help' lists the commands: \(known.map(\.name).joined(separator: ", "))."
    }
}
