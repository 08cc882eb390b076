/// A link to this program under the name of a command.
package enum ProgramLink {
    /// The words before the arguments, by the name of the link. The arguments are never options, because servers write prompts.
    private static let commands = [
        "keychainfs-askpass": ["helper", "askpass", "--"],
        "docker-credential-keychainfs": ["helper", "docker-credential", "--"],
        "git-credential-keychainfs": ["helper", "git-credential", "--"],
    ]

    /// Returns the words of the command line; nil if the program was not called by such a link.
    package static func words(of arguments: [String]) -> [String]? {
        guard let name = arguments.first?.split(separator: "/").last, let command = commands[String(name)] else {
            return nil
        }
        return command + arguments.dropFirst()
    }
}
