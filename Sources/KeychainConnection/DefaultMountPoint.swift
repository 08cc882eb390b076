import Foundation

/// The mount point that clients use by default.
package enum DefaultMountPoint {
    private static let variable = "KEYCHAINFS_MOUNT"

    /// `KEYCHAINFS_MOUNT`, else `~/Keychain`.
    package static func path(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        if let path = environment[variable], !path.isEmpty { return path }
        return home(environment) + "/Keychain"
    }

    static func home(_ environment: [String: String]) -> String {
        environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? NSHomeDirectory()
    }
}
