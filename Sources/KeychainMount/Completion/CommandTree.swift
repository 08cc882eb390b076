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
        let completionKind: CompletionKind?
        let isRepeating: Bool
        let shouldDisplay: Bool

        /// The `completion:` of the option's declaration.
        enum CompletionKind: Decodable, Sendable {
            case file, directory
            case list([String])
            case other

            private enum CodingKeys: String, CodingKey { case file, directory, list }
            private struct List: Decodable { let values: [String] }

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                if let list = try container.decodeIfPresent(List.self, forKey: .list) {
                    self = .list(list.values)
                } else if container.contains(.file) {
                    self = .file
                } else {
                    self = container.contains(.directory) ? .directory : .other
                }
            }
        }

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
