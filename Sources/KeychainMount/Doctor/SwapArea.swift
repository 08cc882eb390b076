import Fuse
import LinuxSupport

/// Where memory goes when it is short, or the machine hibernates.
struct SwapArea: Hashable {
    enum Medium: Hashable {
        /// Compressed memory (zram): nothing of it reaches a disk.
        case memory
        /// A disk, or a file on one, that dm-crypt encrypts.
        case encrypted
        case readable
    }

    /// As /proc/swaps calls it.
    let path: String
    let medium: Medium
}

extension HostInfo {
    /// The areas of /proc/swaps.
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

    /// The disk that a hibernated machine is written to, by its number (`8:3`); nil where it cannot hibernate.
    var hibernationDevice: String? {
        guard word("/sys/power/state").split(separator: " ").contains("disk") else { return nil }
        let device = word("/sys/power/resume")
        return device.isEmpty || device == "0:0" ? nil : device
    }

    /// Whether dm-crypt lies under a block device, at whatever depth: LUKS under LVM. `directory` is its own in /sys.
    func isEncrypted(_ directory: String, depth: Int = 0) -> Bool {
        if word(directory + "/dm/uuid").hasPrefix("CRYPT-") { return true }
        let below = names(directory + "/slaves")
        return !below.isEmpty && depth < 8
            && below.allSatisfy { isEncrypted("/sys/class/block/\($0)", depth: depth + 1) }
    }
}
