import Foundation
import LinuxSupport

/// The default paths: of the environment, of the user's settings, or those of the XDG Base Directory Specification.
package struct DefaultPaths: Sendable {
    private let environment: [String: String]
    private let directories: UserDirectories
    private let configuration: Configuration

    /// The paths of this process, which reads the settings once.
    package init() {
        self.init(environment: ProcessInfo.processInfo.environment, configuration: .current)
    }

    package init(environment: [String: String]) {
        self.init(environment: environment, configuration: Configuration(environment: environment))
    }

    private init(environment: [String: String], configuration: Configuration) {
        (self.environment, self.configuration) = (environment, configuration)
        directories = UserDirectories(environment: environment)
    }

    package var home: String { directories.home }

    /// The keychain that the settings name, by a name or a path.
    package var namedKeychain: String? { configuration[.keychain] }

    /// `${XDG_DATA_HOME:-~/.local/share}/keychainfs/login.keychain`
    package var keychain: String { keychainDirectory + "/login.keychain" }

    /// `${XDG_DATA_HOME:-~/.local/share}/keychainfs`: the directory of keychains that are named without a path.
    package var keychainDirectory: String { directories.data + "/keychainfs" }

    /// The value of `KEYCHAINFS_MOUNT`, which programs that use the library read, too; otherwise ``defaultMountPoint``.
    package var mountPoint: String {
        environment["KEYCHAINFS_MOUNT"].flatMap { $0.isEmpty ? nil : $0 } ?? defaultMountPoint
    }

    /// The mount point of the settings, otherwise `~/Keychain`.
    package var defaultMountPoint: String { configuration[.mountPoint] ?? home + "/" + Self.mountPointName }

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
    package var stateDirectory: String { directories.state + "/keychainfs" }

    /// The value of `KEYCHAINFS_PASSPHRASE_FILE`; nil if it is not set.
    package var passphraseFile: String? {
        environment["KEYCHAINFS_PASSPHRASE_FILE"].flatMap { $0.isEmpty ? nil : $0 }
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
