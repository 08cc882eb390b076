import Foundation

/// Where things lie by default (XDG Base Directory Specification).
package struct DefaultPaths: Sendable {
    private let environment: [String: String]
    package let home: String

    package init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.environment = environment
        home = environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? NSHomeDirectory()
    }

    /// `${XDG_DATA_HOME:-~/.local/share}/keychainfs/login.keychain`
    package var keychain: String { directory("XDG_DATA_HOME", ".local/share") + "/keychainfs/login.keychain" }

    /// What `KEYCHAINFS_MOUNT` names, as for programs that use the library; else `~/Keychain`.
    package var mountPoint: String {
        environment["KEYCHAINFS_MOUNT"].flatMap { $0.isEmpty ? nil : $0 } ?? defaultMountPoint
    }

    /// `~/Keychain`
    package var defaultMountPoint: String { home + "/" + Self.mountPointName }

    package static let mountPointName = "Keychain"

    /// `${XDG_STATE_HOME:-~/.local/state}/keychainfs/device.key`, or the credential that stands for it.
    package var deviceKey: String { deviceKeyCredential ?? stateDirectory + "/device.key" }

    /// `$CREDENTIALS_DIRECTORY/keychainfs.device-key`, if there is one: systemd passes it to a service
    /// (`LoadCredential=`, systemd.exec(5)).
    package var deviceKeyCredential: String? {
        guard let directory = environment["CREDENTIALS_DIRECTORY"], directory.hasPrefix("/") else { return nil }
        let path = directory + "/keychainfs.device-key"
        return (try? FileManager.default.attributesOfItem(atPath: path)) == nil ? nil : path
    }

    /// `${XDG_STATE_HOME:-~/.local/state}/keychainfs`: what belongs to this device, and to no backup of the keychain.
    package var stateDirectory: String { directory("XDG_STATE_HOME", ".local/state") + "/keychainfs" }

    /// `KEYCHAINFS_PASSPHRASE_FILE`, if it is set.
    package var passphraseFile: String? {
        environment["KEYCHAINFS_PASSPHRASE_FILE"].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A relative path there is ignored, as the specification says.
    private func directory(_ variable: String, _ fallback: String) -> String {
        guard let value = environment[variable], value.hasPrefix("/") else { return home + "/" + fallback }
        return value
    }

    /// The path from the root of a name that is to be made: links are followed but for the last one, so that a name that
    /// is taken by a link is seen to be taken.
    package static func absoluteOfNew(_ path: String) -> String {
        let url = URL(fileURLWithPath: path).standardizedFileURL
        let directory = url.deletingLastPathComponent().resolvingSymlinksInPath()
        return directory.appendingPathComponent(url.lastPathComponent).path
    }

    /// The path from the root, without symbolic links where it exists.
    package static func absolute(_ path: String) -> String {
        let url = URL(fileURLWithPath: path).standardizedFileURL
        return url.resolvingSymlinksInPath().path
    }
}
