import DeviceState
import Foundation
import Fuse
import LinuxSupport
import SystemPackage

/// The requirements of a mount on the kernel and on fusermount3.
extension Doctor {
    var mounting: [Diagnosis.Finding] { [device, helper, kernel, otherUsers, place] }

    private var device: Diagnosis.Finding {
        do {
            try FileDescriptor.open(FilePath("/dev/fuse"), .readWrite, options: .closeOnExec).close()
            return .init("fuse-device", .ok, "/dev/fuse can be opened.")
        } catch Errno.noSuchFileOrDirectory {
            return .init(
                "fuse-device", .problem, "There is no /dev/fuse.",
                "Load the module with 'modprobe fuse'; give a container the device.")
        } catch {
            return .init(
                "fuse-device", .problem, "/dev/fuse cannot be opened: \(error).",
                "It should have mode 0666, as root sets with 'chmod 0666 /dev/fuse'.")
        }
    }

    /// root mounts without the helper.
    private var helper: Diagnosis.Finding {
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
            .map { "\($0)/fusermount3" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let path else {
            return .init(
                "fusermount3", user == 0 ? .warning : .problem, "There is no fusermount3 in PATH.",
                "Install the package 'fuse3'; without it only root can mount.")
        }
        guard user == 0 || (permissions(path) ?? 0) & 0o4000 != 0 else {
            return .init(
                "fusermount3", .problem, "\(path) is not set-user-ID root, so it cannot mount for you.",
                "Install the package 'fuse3' again, or 'chmod u+s \(path)' as root.")
        }
        return .init("fusermount3", .ok, "\(path) can mount.")
    }

    private var kernel: Diagnosis.Finding {
        let release = host.kernelRelease
        let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        guard !release.isEmpty else {
            return .init(
                "kernel", .warning, "The version of Linux is unknown: /proc/sys cannot be read.",
                "'uname -r' shows it.")
        }
        if numbers.count == 2, (numbers[0], numbers[1]) >= (6, 16) {
            return .init("kernel", .ok, "Linux \(release) forgets all names in one step when a keychain locks.")
        }
        return .init(
            "kernel", .warning, "Linux \(release) cannot forget all names in one step when a keychain locks.",
            "Locking works, but is faster from Linux 6.16 on.")
    }

    private var otherUsers: Diagnosis.Finding {
        guard user != 0, !host.usersMayAllowOthers else {
            return .init("other-users", .ok, "Services of other users can be let in with '-o allow_other'.")
        }
        return .init(
            "other-users", .ok, "Only you can access your mounts: '-o allow_other' is refused.",
            "If a service needs it: a line 'user_allow_other' in /etc/fuse.conf.")
    }

    private var place: Diagnosis.Finding {
        if let mount = (try? MountTable.current())?.mount(at: mountPoint) {
            if mount.type == MountedKeychains.type, MountClient(mountPoint: mountPoint).isSilent {
                return .init(
                    "mount-point", .problem, "The daemon of \(mountPoint) does not respond.",
                    "If it was stopped, 'kill -CONT PID'; if it hangs, 'kill -KILL PID'. 'pgrep -af keychainfs' shows its PID."
                )
            }
            if StaleMount.exists(at: mountPoint, type: MountedKeychains.type) {
                return .init(
                    "mount-point", .problem, "The daemon of \(mountPoint) is dead.",
                    "'keychainfs mount' cleans up and mounts again.")
            }
            return mount.type == MountedKeychains.type
                ? .init("mount-point", .ok, "A keychain is mounted at \(mountPoint).")
                : .init(
                    "mount-point", .problem, "Something else is mounted at \(mountPoint) (\(mount.type)).",
                    "Name another directory.")
        }
        guard let entries = try? FileManager.default.contentsOfDirectory(atPath: mountPoint) else {
            return .init(
                "mount-point", .warning, "\(mountPoint) is not a readable directory.", "'mkdir -p \(mountPoint)'")
        }
        return entries.isEmpty
            ? .init("mount-point", .ok, "\(mountPoint) can be mounted on.")
            : .init(
                "mount-point", .problem, "\(mountPoint) is not empty.",
                "Name an empty directory: a mount would hide its contents.")
    }

    var mountPointWarnings: [Diagnosis.Finding] {
        MountPointWarnings(mountPoint: mountPoint, home: locations.home).warnings.map { warning in
            .init("backups", .warning, warning.message, warning.remedy)
        }
    }
}
