import Fuse
import LinuxSupport

/// A swap area, to which memory is written when it is short, or the machine hibernates.
struct SwapArea: Hashable {
    enum Medium: Hashable {
        /// Compressed memory (zram), which never reaches a disk.
        case memory
        /// A disk, or a file on one, that dm-crypt encrypts.
        case encrypted
        case readable
    }

    /// The path in /proc/swaps.
    let path: String
    let medium: Medium
}

extension HostInfo {
    /// The areas in /proc/swaps.
    var swapAreas: [SwapArea] {
        text("/proc/swaps").split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split { $0 == " " || $0 == "\t" }.map(String.init)
            guard fields.count >= 2 else { return nil }
            return SwapArea(path: fields[0], medium: medium(fields[0], type: fields[1]))
        }
    }

    private func medium(_ path: String, type: String) -> SwapArea.Medium {
        if type == "file" {
            let device = mounts.mount(holding: path)?.device ?? ""
            return isEncrypted("/sys/dev/block/\(device)") ? .encrypted : .readable
        }
        let name = String(path.split(separator: "/").last ?? "")
        let backing = word("/sys/class/block/\(name)/backing_dev")
        if name.hasPrefix("zram"), backing.isEmpty || backing == "none" { return .memory }
        return isEncrypted("/sys/class/block/\(name)") ? .encrypted : .readable
    }

    /// The device number (`8:3`) of the disk to which a hibernated machine is written; nil if it cannot hibernate.
    var hibernationDevice: String? {
        guard word("/sys/power/state").split(separator: " ").contains("disk") else { return nil }
        let device = word("/sys/power/resume")
        return device.isEmpty || device == "0:0" ? nil : device
    }

    /// Whether a block device is on dm-crypt, at any depth, such as LUKS under LVM.
    ///
    /// - Parameter directory: The directory of the device in /sys.
    func isEncrypted(_ directory: String, depth: Int = 0) -> Bool {
        if word(directory + "/dm/uuid").hasPrefix("CRYPT-") { return true }
        let below = names(directory + "/slaves")
        return !below.isEmpty && depth < 8
            && below.allSatisfy { isEncrypted("/sys/class/block/\($0)", depth: depth + 1) }
    }
}
