import DeviceState

/// A command of this program for a mount point, as a message shows it.
package enum MountPointCommand {
    /// Returns `keychainfs COMMAND MOUNTPOINT`, without the mount point if it is the default one.
    package static func text(
        _ command: String, _ mountPoint: String, default: String = DefaultPaths().mountPoint
    ) -> String {
        let isDefault = mountPoint == `default` || mountPoint == DefaultPaths.absolute(`default`)
        return "keychainfs \(command)\(isDefault ? "" : " " + ShellWord.quoted(mountPoint))"
    }
}
