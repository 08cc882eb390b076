internal import Keychain

/// The keychains that the calling user has mounted, their states, and the most likely next commands.
package struct Overview: Sendable {
    struct Mounted {
        let mountPoint: String
        /// ``StatusReport/state``, or the reason why it is unknown.
        let state: String
        let items: Int?
    }

    private let mounted: [Mounted]
    private let keychainExists: Bool
    private let defaultMountPoint: String

    /// Queries the status of each daemon. A daemon that does not respond delays this by some seconds.
    package init(keychain: KeychainPath, mountPoint: String) {
        self.init(
            mounted: MountedKeychains.ofCaller.map { Self.mounted(at: $0) }, keychainExists: keychain.exists,
            defaultMountPoint: mountPoint)
    }

    init(mounted: [Mounted], keychainExists: Bool, defaultMountPoint: String) {
        self.mounted = mounted
        self.keychainExists = keychainExists
        self.defaultMountPoint = defaultMountPoint
    }

    private static func mounted(at mountPoint: String) -> Mounted {
        do throws(CLIError) {
            let status = try MountClient(mountPoint: mountPoint).status()
            return Mounted(mountPoint: mountPoint, state: status.state, items: status.items)
        } catch {
            let state = error.exitCode == .noAnswer ? "does not respond" : "its daemon has ended"
            return Mounted(mountPoint: mountPoint, state: state, items: nil)
        }
    }

    package var text: String {
        var lines = mounted.isEmpty ? ["No keychain is mounted."] : ["Mounted keychains:"]
        let width = mounted.map(\.mountPoint.count).max() ?? 0
        for mount in mounted {
            let place = Printable.text(mount.mountPoint)
            let count = mount.items.map { ", " + Counted.items($0) } ?? ""
            lines.append("  \(Self.padded(place, to: width))  \(mount.state)\(count)")
        }
        lines += ["", "Next:"]
        let commandWidth = suggestions.map(\.command.count).max() ?? 0
        for (command, purpose) in suggestions {
            lines.append("  \(Self.padded(command, to: commandWidth))  \(purpose)")
        }
        return (lines + ["", "All commands: keychainfs --help"]).joined(separator: "\n")
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// Three commands for the first keychain that needs one.
    private var suggestions: [(command: String, purpose: String)] {
        guard let mount = mounted.first(where: { $0.state != LockState.unlocked.text }) ?? mounted.first else {
            return keychainExists
                ? [
                    ("keychainfs mount", "mount your keychain at \(defaultMountPoint)"),
                    ("keychainfs doctor", "check the requirements of a mount"),
                    ("keychainfs check", "verify your keychain"),
                ]
                : [
                    ("keychainfs create", "create a keychain"),
                    ("keychainfs mount --create", "create a keychain and mount it at \(defaultMountPoint)"),
                    ("keychainfs doctor", "check the requirements of a mount"),
                ]
        }
        func command(_ name: String) -> String {
            MountPointCommand.text(name, mount.mountPoint, default: defaultMountPoint)
        }
        switch mount.state {
        case LockState.unlocked.text:
            return [
                ("ls \(ShellWord.quoted(mount.mountPoint))", "list it"), (command("lock"), "lock it"),
                ("keychainfs search WORD", "find items"),
            ]
        case LockState.locked.text, LockState.beforeFirstUnlock.text:
            return [
                (command("unlock"), "unlock it"), (command("status"), "show its state"),
                (command("unmount"), "unmount it"),
            ]
        default:
            return [
                (command("mount"), "clean up and mount again"),
                (command("status"), "show why it does not respond"),
                (command("unmount"), "unmount it"),
            ]
        }
    }
}
