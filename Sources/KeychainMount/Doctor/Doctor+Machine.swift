import FileSystemCore
import Foundation
import Fuse
import LinuxSupport

/// The disk of the keychain, the clock that dates its items, and programs that search the machine.
extension Doctor {
    var machine: [Diagnosis.Finding] { [disk, freeSpace, clock, session, updatedb] }

    /// The directory of the keychain, which may not exist yet.
    private var store: String {
        var directory = URL(fileURLWithPath: keychain, isDirectory: false).deletingLastPathComponent()
        while directory.path != "/", !FileManager.default.fileExists(atPath: directory.path) {
            directory.deleteLastPathComponent()
        }
        return directory.resolvingSymlinksInPath().path
    }

    private static let networked: Set = ["nfs", "nfs4", "cifs", "smb3", "9p", "afs", "ceph", "glusterfs", "lustre"]

    private var disk: Diagnosis.Finding {
        guard let mount = host.mounts.mount(holding: store) else {
            return .init("disk", .warning, "The file system of \(store) is unknown.", "Is /proc mounted?")
        }
        if mount.isReadOnly {
            return .init(
                "disk", .warning, "\(store) is read-only (\(mount.type)): nothing can be changed.",
                "'mount -o remount,rw \(mount.path)', or keep the keychain elsewhere.")
        }
        if Self.networked.contains(mount.type) || mount.type.hasPrefix("fuse") {
            return .init(
                "disk", .warning,
                "\(store) is on another machine or program (\(mount.type)): locks and durability depend on it.",
                "Keep the keychain on a disk of this machine, and a 'keychainfs backup' there.")
        }
        if ["tmpfs", "ramfs"].contains(mount.type) {
            return .init(
                "disk", .warning,
                "\(store) is in memory (\(mount.type)): the keychain is lost when the machine restarts.",
                "Keep it on a disk.")
        }
        return .init("disk", .ok, "\(store) is on a disk of this machine (\(mount.type)).")
    }

    /// The required free space in bytes, below which no item can be added. A warning is issued below ten times that.
    private static let neededSpace: UInt64 = 1_300_000

    private var freeSpace: Diagnosis.Finding {
        guard let free = try? FileSystemStatistics(ofPath: store).availableBytes else {
            return .init(
                "disk-space", .warning, "The free space of \(store) is unknown.", "Can you read it?")
        }
        let text = "\(free >> 20) MiB are free for the keychain"
        if free >= Self.neededSpace * 10 { return .init("disk-space", .ok, text + ".") }
        return .init(
            "disk-space", free < Self.neededSpace ? .problem : .warning,
            free < Self.neededSpace ? text + ": nothing can be added." : text + ".",
            "Free some space on the disk of \(store)."
        )
    }

    private var clock: Diagnosis.Finding {
        let changes = [keychain, SQLiteFileNames.log(of: keychain)].compactMap { path in
            (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
        }
        if let last = changes.max(), last.timeIntervalSinceNow > 60 {
            return .init(
                "clock", .warning,
                "The clock is behind the last change of the keychain: new changes get later dates than the clock's.",
                "Set the clock: 'timedatectl set-ntp true', or 'date'.")
        }
        if SystemClock.isSynchronized == false {
            return .init(
                "clock", .warning, "The clock is not synchronized: dates of items and times of locks depend on it.",
                "'timedatectl set-ntp true'; in a virtual machine the host may do it.")
        }
        return .init("clock", .ok, "The clock is synchronized.")
    }

    private var session: Diagnosis.Finding {
        host.hasLogin
            ? .init("session", .ok, "The system reports suspends and locked screens ('mount --lock-on').")
            : .init(
                "session", .warning, "There is no systemd-logind: 'mount --lock-on suspend' and 'screen' do not work.",
                "Use 'mount --lock-after' and '--lock-at-most', or call 'keychainfs lock' from your suspend script.")
    }

    /// updatedb runs as root, which only allow_other and allow_root admit.
    private var updatedb: Diagnosis.Finding {
        guard let pruned = host.prunedFileSystems, !pruned.contains(MountedKeychains.type) else {
            return .init("updatedb", .ok, "No updatedb goes through mounted keychains.")
        }
        let isOpen = host.mounts.mount(at: mountPoint)?.options.contains("allow_other") == true
        let types = (pruned + [MountedKeychains.type]).joined(separator: " ")
        let advice = "The line for /etc/updatedb.conf: PRUNEFS=\"\(types)\""
        return isOpen
            ? .init(
                "updatedb", .warning, "updatedb can enter \(mountPoint): all may search the names it finds.", advice)
            : .init("updatedb", .ok, "updatedb runs as root, which cannot enter the mount without allow_other.", advice)
    }
}
