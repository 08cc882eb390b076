import DeviceState

/// Warns of a mount point from which programs that copy a home directory would copy decrypted items (contract, H6).
package struct MountPointWarnings: Sendable {
    /// Names of directories that programs synchronize with other machines, in lower case.
    private static let synchronized = [
        "dropbox", "nextcloud", "owncloud", "onedrive", "google drive", "syncthing",
        "sync",
    ]

    private let mountPoint: String
    private let home: String

    package init(mountPoint: String, home: String) {
        self.mountPoint = mountPoint
        self.home = home
    }

    package struct Warning: Sendable {
        package let message: String
        package let remedy: String
    }

    /// The warnings for `status`. The default mount point causes none; `doctor` explains it.
    package var unusual: [String] {
        mountPoint == home + "/" + DefaultPaths.mountPointName ? [] : warnings.map { $0.message + " " + $0.remedy }
    }

    package var warnings: [Warning] {
        guard home.count > 1, mountPoint.hasPrefix(home + "/") else { return [] }
        let directories = mountPoint.dropFirst(home.count + 1).split(separator: "/").dropLast()
        if let name = directories.first(where: { Self.synchronized.contains($0.lowercased()) }) {
            let message =
                "The mount point is in \(name): a program that synchronizes that directory copies decrypted items."
            return [Warning(message: message, remedy: "Move it.")]
        }
        return [
            Warning(
                message: "The mount point is in the home directory: a backup that enters it copies decrypted items.",
                remedy: "Exclude it, or use --one-file-system; 'keychainfs backup' writes an encrypted copy.")
        ]
    }
}
