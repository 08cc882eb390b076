/// A command with its subcommands, by name.
package struct CommandName: Sendable {
    package let name: String
    /// Whether help texts list it.
    package let isShown: Bool
    package let subcommands: [CommandName]

    package init(_ name: String, isShown: Bool = true, subcommands: [CommandName] = []) {
        self.name = name
        self.isShown = isShown
        self.subcommands = subcommands
    }
}
