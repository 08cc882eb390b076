package import DeviceState
import Foundation
import Fuse
import SecretCrypto
import SystemPackage

/// Looks at everything a mount needs, without one and without a passphrase; changes nothing.
package struct Doctor: Sendable {
    private let keychain: String
    private let mountPoint: String
    private let locations: Locations
    private let host = HostFacts()

    package init(keychain: String, mountPoint: String, locations: Locations = Locations()) {
        self.keychain = keychain
        self.mountPoint = mountPoint
        self.locations = locations
    }

    package func examine() -> Diagnosis {
        Diagnosis(
            findings: [device, helper, kernel, lockLimit] + process + [swap, keychainFile, deviceKey, state, place]
                + mountPointWarnings)
    }

    // MARK: Mounting

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

    /// root mounts by itself.
    private var helper: Diagnosis.Finding {
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
            .map { "\($0)/fusermount3" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let path else {
            return .init(
                "fusermount3", geteuid() == 0 ? .warning : .problem, "There is no fusermount3 in PATH.",
                "Install the package 'fuse3'; without it only root can mount.")
        }
        guard geteuid() == 0 || (permissions(path) ?? 0) & 0o4000 != 0 else {
            return .init(
                "fusermount3", .problem, "\(path) is not set-user-ID root, so it cannot mount for you.",
                "Install the package 'fuse3' again, or 'chmod u+s \(path)' as root.")
        }
        return .init("fusermount3", .ok, "\(path) can mount.")
    }

    private var kernel: Diagnosis.Finding {
        let release = host.kernelRelease
        let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        if numbers.count == 2, (numbers[0], numbers[1]) >= (6, 16) {
            return .init("kernel", .ok, "Linux \(release) forgets all names at once when a keychain locks.")
        }
        return .init(
            "kernel", .warning, "Linux \(release) has to be told name by name when a keychain locks.",
            "Nothing is lost; from Linux 6.16 on a lock is faster.")
    }

    // MARK: Memory

    /// The arena of 2 MiB and four receive buffers.
    private static let neededLock = 7 << 20

    private var lockLimit: Diagnosis.Finding {
        guard let limit = host.lockLimit, limit < Self.neededLock, geteuid() != 0 else {
            return .init("memory-lock-limit", .ok, "Enough memory may be locked.")
        }
        return .init(
            "memory-lock-limit", .warning,
            "Only \(limit >> 10) KiB of memory may be locked, \(Self.neededLock >> 10) are needed: secrets may be swapped out.",
            "Raise 'memlock' in /etc/security/limits.conf or LimitMEMLOCK= of the unit to 8 MiB.")
    }

    private var process: [Diagnosis.Finding] {
        let report = ProcessHardening.report()
        let measures: [(String, Bool, String)] = [
            ("memory-locked", report.memoryLocked, "Memory for secrets can be locked"),
            ("no-core-dumps", report.undumpable && report.coreDumpsDisabled, "Core dumps and tracing can be refused"),
            ("no-crash-reports", report.crashReportsOff, "Crash reports are off"),
            ("freed-memory-wiped", report.allocatorWipes, "Memory that is freed is wiped"),
        ]
        return measures.map { name, holds, text in
            holds
                ? .init(name, .ok, text + ".")
                : .init(name, .warning, text + ": NOT in force.", "'keychainfs status' shows it for a running daemon.")
        }
    }

    private var swap: Diagnosis.Finding {
        host.hasSwap
            ? .init(
                "swap", .warning,
                "Swap space is in use: keys and contents are locked in memory, but not what Argon2id works on.",
                "Encrypt the swap space, or turn it off with 'swapoff -a'.")
            : .init("swap", .ok, "There is no swap space.")
    }

    // MARK: Files

    private var keychainFile: Diagnosis.Finding {
        guard permissions(keychain) != nil else {
            return .init(
                "keychain", .warning, "There is no keychain \(keychain).", "Make one with 'keychainfs create'.")
        }
        return privateFile("keychain", keychain, "The keychain")
    }

    private var deviceKey: Diagnosis.Finding {
        guard permissions(locations.deviceKey) != nil else {
            return .init("device-key", .ok, "There is no device key yet; the first keychain makes it.")
        }
        if let problem = DeviceKeyFile(locations).problem() {
            return .init("device-key", .problem, problem, "It is a file of 32 bytes; keychains know this device by it.")
        }
        if locations.deviceKeyCredential != nil {
            return .init("device-key", .ok, "The device key comes from a systemd credential.")
        }
        return privateFile("device-key", locations.deviceKey, "The device key")
    }

    private var state: Diagnosis.Finding {
        let directory = locations.stateDirectory
        guard let permissions = permissions(directory) else {
            return .init("state-directory", .ok, "There is no state directory yet.")
        }
        let facts = try? FileManager.default.attributesOfItem(atPath: directory)
        guard facts?[.type] as? FileAttributeType == .typeDirectory else {
            return .init(
                "state-directory", .problem, "\(directory) is no directory.",
                "Move it away; it is made when it is needed.")
        }
        guard (facts?[.ownerAccountID] as? NSNumber)?.uint32Value == geteuid() else {
            return .init(
                "state-directory", .problem,
                "The state directory \(directory) belongs to another user, who can replace what keychains know this device by.",
                "Change its owner, or set XDG_STATE_HOME.")
        }
        guard FileManager.default.isWritableFile(atPath: directory) else {
            return .init(
                "state-directory", .warning,
                "Nothing can be written to \(directory): an older copy of a keychain will not be told from the newest.",
                "Put it on a disk that can be written to, with XDG_STATE_HOME.")
        }
        return permissions & 0o077 == 0
            ? .init("state-directory", .ok, "The state directory \(directory) is for its owner alone.")
            : .init(
                "state-directory", .warning, "Others can look into the state directory \(directory).",
                "'chmod 0700 \(directory)'")
    }

    private var place: Diagnosis.Finding {
        if let mount = (try? MountTable.current())?.mount(at: mountPoint) {
            if mount.type == MountedKeychains.type, MountClient(mountPoint: mountPoint).silence() != nil {
                return .init(
                    "mount-point", .problem, "The daemon of \(mountPoint) does not answer.",
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
                "mount-point", .warning, "\(mountPoint) is no directory that can be read.", "'mkdir -p \(mountPoint)'")
        }
        return entries.isEmpty
            ? .init("mount-point", .ok, "\(mountPoint) can be mounted on.")
            : .init(
                "mount-point", .problem, "\(mountPoint) is not empty.",
                "A mount would hide what is in it: empty it, or name another directory.")
    }

    private var mountPointWarnings: [Diagnosis.Finding] {
        MountPointAdvice(mountPoint: mountPoint, home: locations.home).warnings.map { warning in
            .init("backups", .warning, warning)
        }
    }

    private func privateFile(_ name: String, _ path: String, _ what: String) -> Diagnosis.Finding {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        if let owner = (attributes?[.ownerAccountID] as? NSNumber)?.uint32Value, owner != geteuid() {
            return .init(
                name, .problem, "\(what) \(path) belongs to another user.", "Change its owner, or be that user.")
        }
        guard let permissions = permissions(path), permissions & 0o077 == 0 else {
            return .init(name, .problem, "\(what) \(path) can be read by others.", "'chmod 0600 \(path)'")
        }
        return .init(name, .ok, "\(what) \(path) is for its owner alone.")
    }

    /// Nil if there is no such file, or it cannot be seen.
    private func permissions(_ path: String) -> UInt32? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.posixPermissions] as? NSNumber)?.uint32Value
    }
}
