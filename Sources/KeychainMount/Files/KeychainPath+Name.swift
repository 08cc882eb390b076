package import DeviceState
import Foundation

/// The names of keychains. Text with a `/` is a path. Other text is a name: `work` and `work.keychain` are `work.keychain` in
/// ``DefaultPaths/keychainDirectory``, regardless of the working directory.
extension KeychainPath {
    private static let suffix = ".keychain"

    /// Creates the keychain that a command line names. Symbolic links are resolved.
    ///
    /// - Parameter text: A path or a name, for which ``isPathOrName(_:)`` is true; nil for the default keychain, which the settings may name.
    package init(named text: String?, locations: DefaultPaths = DefaultPaths()) {
        let path = (text ?? locations.namedKeychain).map {
            $0.contains("/") ? $0 : locations.keychainDirectory + "/" + Self.stem($0) + Self.suffix
        }
        self.init(path: DefaultPaths.absolute(path ?? locations.keychain), locations: locations)
    }

    /// Whether text can name a keychain: a path, or a name that is not empty, `.` or `..`, and does not look like an option.
    package static func isPathOrName(_ text: String) -> Bool {
        text.contains("/") || !(["", ".", ".."].contains(stem(text)) || text.hasPrefix("-"))
    }

    private static func stem(_ text: String) -> String {
        text.hasSuffix(suffix) ? String(text.dropLast(suffix.count)) : text
    }

    /// The names of the keychains in the directory of keychains, sorted.
    static func names(in locations: DefaultPaths) -> [String] {
        let files = try? FileManager.default.contentsOfDirectory(atPath: locations.keychainDirectory)
        return (files ?? []).filter { $0.hasSuffix(suffix) && isPathOrName($0) }.map(stem).sorted()
    }

    /// The name; nil for a keychain that has to be named by its path.
    private var name: String? {
        let name = Self.stem(URL(fileURLWithPath: path).lastPathComponent)
        guard Self.isPathOrName(name), KeychainPath(named: name, locations: locations).path == path else { return nil }
        return name
    }

    /// The keychain in prompts: its name, otherwise its path.
    package var shownName: String { name ?? path }

    /// The keychain as an argument of a command, quoted for a shell.
    var argument: String { ShellWord.quoted(name ?? path) }

    /// Whether it is the keychain of commands that name none.
    var isDefault: Bool { path == KeychainPath(named: nil, locations: locations).path }

    /// The option that names this keychain; empty for the default one.
    private var option: String { isDefault ? "" : " --keychain \(argument)" }

    /// The command that mounts this keychain at the default mount point.
    package var mountCommand: String { "keychainfs mount\(option)" }

    /// The error of a keychain that does not exist.
    var missing: CLIError { CLIError(.noKeychain, "There is no keychain at \(path). \(creationAdvice)") }

    /// The advice if the keychain does not exist.
    var creationAdvice: String {
        let files = name.map { ["./" + $0, "./" + $0 + Self.suffix] } ?? []
        let advice = files.first(where: Self.exists).map {
            " The file of that name in this directory is \(ShellWord.quoted($0)): without a '/' it is the name of a keychain."
        }
        return "Make one with 'keychainfs create\(option)'.\(advice ?? "")"
    }
}
