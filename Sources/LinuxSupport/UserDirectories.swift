import Glibc

/// The directories of the user's files (XDG Base Directory Specification).
public struct UserDirectories: Sendable {
    public let home: String
    private let environment: [String: String]

    public init(environment: [String: String]) {
        self.environment = environment
        home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? UserAccount.home(of: getuid()) ?? "/"
    }

    /// `${XDG_DATA_HOME:-~/.local/share}`
    public var data: String { directory("XDG_DATA_HOME", ".local/share") }

    /// `${XDG_STATE_HOME:-~/.local/state}`
    public var state: String { directory("XDG_STATE_HOME", ".local/state") }

    /// `${XDG_CONFIG_HOME:-~/.config}`
    public var configuration: String { directory("XDG_CONFIG_HOME", ".config") }

    /// Ignores a relative path, as the specification requires.
    private func directory(_ variable: String, _ fallback: String) -> String {
        guard let value = environment[variable], value.utf8.first == UInt8(ascii: "/") else {
            return home + "/" + fallback
        }
        return value
    }
}
