import DeviceState

/// Where a mount lies badly: what copies a home directory copies decrypted items too (contract H6).
package struct MountPointAdvice: Sendable {
    /// Directories that programs keep in step with other machines, in lower case.
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

    /// The warnings for `status`. The default mount point causes none: `doctor` explains it.
    package var unusual: [String] { mountPoint == home + "/" + Locations.mountPointName ? [] : warnings }

    /// One sentence each; none if there is nothing to say.
    package var warnings: [String] {
        guard home.count > 1, mountPoint.hasPrefix(home + "/") else { return [] }
        let directories = mountPoint.dropFirst(home.count + 1).split(separator: "/").dropLast()
        if let name = directories.first(where: { Self.synchronized.contains($0.lowercased()) }) {
            return [
                "The mount point lies in \(name): what synchronizes that directory copies decrypted items. Move it."
            ]
        }
        return [
            "The mount point lies in the home directory: a backup of it that crosses file systems copies decrypted items."
                + " Exclude \(mountPoint), or back up with --one-file-system, and back up the keychain file instead."
        ]
    }
}
