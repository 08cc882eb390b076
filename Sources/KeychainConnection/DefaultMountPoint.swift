import Foundation
import LinuxSupport

/// The mount point that clients use by default.
package enum DefaultMountPoint {
    private static let variable = "KEYCHAINFS_MOUNT"

    /// `KEYCHAINFS_MOUNT`, else the mount point of the user's settings, else `~/Keychain`.
    ///
    /// - Returns: An empty path, where nothing is mounted, if the settings have a mistake: a client must not use another keychain than
    ///   the commands, which report the mistake.
    package static func path(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        if let path = environment[variable], !path.isEmpty { return path }
        let directories = UserDirectories(environment: environment)
        let file = SettingsFile(directories)
        let settings = file.settings.filter { $0.name == "mount-point" }
        guard file.problems.isEmpty, settings.count <= 1 else { return "" }
        guard let setting = settings.first else { return directories.home + "/Keychain" }
        return setting.path(home: directories.home) ?? ""
    }
}
