import Foundation

/// The default paths (XDG Base Directory Specification).
package struct DefaultPaths: Sendable {
    private let environment: [String: String]
    package let home: String

    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.environment = environment
        home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? NSHomeDirectory()
    }

    /// `${XDG_DATA_HOME:-~/.local/share}/keychainfs/login.keychain`
    package var keychain: String { keychainDirectory + "/login.keychain" }

    /// `${XDG_DATA_HOME:-~/.local/share}/keychainfs`: the directory of keychains that are named without a path.
    package var keychainDirectory: String { directory("XDG_DATA_HOME", ".local/share") + "/keychainfs" }

    /// The value of `KEYCHAINFS_MOUNT`, which programs that use the library read, too; otherwise `~/Keychain`.
    package var mountPoint: String {
        environment["KEYCHAINFS_MOUNT"].flatMap { $0.isEmpty ? nil : $0 } ?? defaultMountPoint
    }

    /// `~/Keychain`
    package var defaultMountPoint: String { home + "/" + Self.mountPointName }

    package static let mountPointName = "Keychain"

    /// `${XDG_STATE_HOME:-~/.local/state}/keychainfs/device.key`, or the credential that replaces it.
    package var deviceKey: String { deviceKeyCredential ?? stateDirectory + "/device.key" }

    /// `$CREDENTIALS_DIRECTORY/keychainfs.device-key` if it exists: systemd passes it to a service (`LoadCredential=`,
    /// systemd.exec(5)).
    package var deviceKeyCredential: String? {
        guard let directory = environment["CREDENTIALS_DIRECTORY"], directory.hasPrefix("/") else { return nil }
        let path = directory + "/keychainfs.device-key"
        return (try? FileManager.default.attributesOfItem(atPath: path)) == nil ? nil : path
    }

    /// `${XDG_STATE_HOME:-~/.local/state}/keychainfs`: the directory of files that belong to this device and not into a
    /// backup of the keychain.
    package var stateDirectory: String { directory("XDG_STATE_HOME", ".local/state") + "/keychainfs" }

    /// The value of `KEYCHAINFS_PASSPHRASE_FILE`; nil if it is not set.
    package var passphraseFile: String? {
        environment["KEYCHAINFS_PASSPHRASE_FILE"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the directory of an XDG variable. Ignores a relative path, as the specification requires.
    private func directory(_ variable: String, _ fallback: String) -> String {
        guard let value = environment[variable], value.hasPrefix("/") else { return home + "/" + fallback }
        return value
    }

    /// Returns the absolute path of a file that does not exist yet. Follows symbolic links except in the last
    /// component, so that a link with that name is detected.
    package static func absoluteOfNew(_ path: String) -> String {
        let url = URL(fileURLWithPath: path).standardizedFileURL
        let directory = url.deletingLastPathComponent().resolvingSymlinksInPath()
        return directory.appendingPathComponent(url.lastPathComponent).path
    }

    /// Returns the absolute path, with symbolic links resolved in the part that exists.
    package static func absolute(_ path: String) -> String {
        let url = URL(fileURLWithPath: path).standardizedFileURL
        return url.resolvingSymlinksInPath().path
    }
}
