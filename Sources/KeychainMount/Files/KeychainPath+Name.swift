package import DeviceState
import Foundation

/// The names of keychains. Text with a `/` is a path. Other text is a name: `work` and `work.keychain` are `work.keychain` in
/// ``DefaultPaths/keychainDirectory``, regardless of the working directory.
extension KeychainPath {
    private static let suffix = ".keychain"

    /// Creates the keychain that a command line names. Symbolic links are resolved.
    ///
    /// - Parameter text: A path or a name, for which ``isPathOrName(_:)`` is true; nil for the default keychain.
    package init(named text: String?, locations: DefaultPaths = DefaultPaths()) {
        guard let text, !text.contains("/") else {
            self.init(path: DefaultPaths.absolute(text ?? locations.keychain), locations: locations)
            return
        }
        self.init(
            path: DefaultPaths.absolute(locations.keychainDirectory + "/" + Self.fileName(text)),
            locations: locations, typedName: text)
    }

    /// Creates the keychain whose name is the last component of a path, which a user may have given without a mount point.
    init?(nameOfMountPoint path: String) {
        let name = URL(fileURLWithPath: path).lastPathComponent
        guard Self.isPathOrName(name) else { return nil }
        self.init(named: name)
    }

    /// Whether text can name a keychain: a path, or a name that is not empty, `.` or `..`, and does not look like an option.
    package static func isPathOrName(_ text: String) -> Bool {
        text.contains("/") || !(["", ".", ".."].contains(stem(text)) || text.hasPrefix("-"))
    }

    private static func stem(_ text: String) -> String {
        text.hasSuffix(suffix) ? String(text.dropLast(suffix.count)) : text
    }

    private static func fileName(_ text: String) -> String { stem(text) + suffix }

    /// The names of the keychains in the directory of keychains, sorted.
    static func names(in locations: DefaultPaths) -> [String] {
        let files = try? FileManager.default.contentsOfDirectory(atPath: locations.keychainDirectory)
        return (files ?? []).filter { $0.hasSuffix(suffix) && isPathOrName($0) }.map(stem).sorted()
    }

    /// The keychain as an argument of a command, quoted for a shell: its name, or its path.
    var argument: String {
        let name = Self.stem(URL(fileURLWithPath: path).lastPathComponent)
        guard Self.isPathOrName(name), KeychainPath(named: name, locations: locations).path == path else {
            return ShellWord.quoted(path)
        }
        return ShellWord.quoted(name)
    }

    /// The option that names this keychain; empty for the default one.
    private var option: String {
        path == DefaultPaths.absolute(locations.keychain) ? "" : " --keychain \(argument)"
    }

    /// The command that mounts this keychain at the default mount point.
    package var mountCommand: String { "keychainfs mount\(option)" }

    /// The error of a keychain that does not exist.
    var missing: CLIError { CLIError(.noKeychain, "There is no keychain at \(path). \(creationAdvice)") }

    /// The advice if the keychain does not exist.
    var creationAdvice: String {
        let files = typedName.map { ["./" + $0, "./" + Self.fileName($0)] } ?? []
        let advice = files.first(where: Self.exists).map {
            " The file of that name in this directory is \(ShellWord.quoted($0)): without a '/' it is the name of a keychain."
        }
        return "Make one with 'keychainfs create\(option)'.\(advice ?? "")"
    }
}
