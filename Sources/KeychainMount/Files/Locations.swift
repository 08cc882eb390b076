import Foundation

/// Where things lie by default (XDG Base Directory Specification).
package struct Locations: Sendable {
    private let environment: [String: String]
    package let home: String

    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.environment = environment
        home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? NSHomeDirectory()
    }

    /// `${XDG_DATA_HOME:-~/.local/share}/keychainfs/login.keychain`
    package var keychain: String { directory("XDG_DATA_HOME", ".local/share") + "/keychainfs/login.keychain" }

    /// `~/Keychain`
    package var mountPoint: String { home + "/Keychain" }

    /// `${XDG_STATE_HOME:-~/.local/state}/keychainfs/device.key`
    package var deviceKey: String { directory("XDG_STATE_HOME", ".local/state") + "/keychainfs/device.key" }

    /// `KEYCHAINFS_PASSPHRASE_FILE`, if it is set.
    package var passphraseFile: String? {
        environment["KEYCHAINFS_PASSPHRASE_FILE"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A relative path there is ignored, as the specification says.
    private func directory(_ variable: String, _ fallback: String) -> String {
        guard let value = environment[variable], value.hasPrefix("/") else { return home + "/" + fallback }
        return value
    }

    /// The path from the root, without symbolic links where it exists.
    package static func absolute(_ path: String) -> String {
        let url = URL(fileURLWithPath: path).standardizedFileURL
        return url.resolvingSymlinksInPath().path
    }
}
