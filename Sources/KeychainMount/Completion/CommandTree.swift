import Foundation

/// The commands and options of the program, from the description that ArgumentParser prints (`--experimental-dump-help`).
package struct CommandTree: Decodable, Sendable {
    package struct Argument: Decodable, Sendable {
        struct Name: Decodable, Sendable {
            let kind: String
            let name: String

            var text: String { (kind == "long" ? "--" : "-") + name }
        }

        /// `positional`, `option` or `flag`.
        let kind: String
        let names: [Name]?
        let valueName: String?
        let abstract: String?
        let allValues: [String]?
        let isRepeating: Bool
        let shouldDisplay: Bool

        var takesValue: Bool { kind == "option" }
        func isCalled(_ text: String) -> Bool { (names ?? []).contains { $0.text == text } }
    }

    let commandName: String
    let abstract: String?
    let shouldDisplay: Bool
    let subcommands: [CommandTree]?
    let arguments: [Argument]?

    /// - Parameter description: JSON.
    package init?(description: String) {
        struct Description: Decodable { let command: CommandTree }
        guard let decoded = try? JSONDecoder().decode(Description.self, from: Data(description.utf8)) else {
            return nil
        }
        self = decoded.command
    }

    var shownSubcommands: [CommandTree] { (subcommands ?? []).filter(\.shouldDisplay) }
    var shownArguments: [Argument] { (arguments ?? []).filter(\.shouldDisplay) }
    var positionals: [Argument] { shownArguments.filter { $0.kind == "positional" } }
}
