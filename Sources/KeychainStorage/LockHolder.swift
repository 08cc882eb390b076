internal import Foundation

/// Finds in the kernel's list who has locked a file.
///
/// `/proc/locks` (proc_locks(5)) rather than F_GETLK: it needs no descriptor, whose closing would drop locks, and it
/// tells of flock(2) too.
struct LockHolder {
    enum Kind {
        /// SQLite's POSIX lock for writing, of any of its lock bytes (from 0x4000_0000, os_unix.c).
        case sqlite
        /// A shared flock(2): how a store that was opened for reading only shows that it is there.
        case reader
    }

    /// The process that has the lock; nil if there is none, or it lives in a process namespace that is out of sight.
    ///
    /// The device is a hint only: on btrfs and overlayfs, stat(2) shows another one than the kernel's list.
    static func processID(of kind: Kind, on file: FileIdentity, locks: String? = nil) -> Int32? {
        let text = locks ?? (try? String(contentsOfFile: "/proc/locks", encoding: .utf8)) ?? ""
        let holders = text.split(separator: "\n").compactMap { Line($0) }
            .filter { $0.inode == file.inode && $0.isOf(kind) }
        return (holders.first { $0.device == device(of: file) } ?? holders.first)?.processID
    }

    /// `MAJOR:MINOR` as the kernel prints it (`%02x:%02x`), from the C library's `dev_t` (makedev(3)).
    private static func device(of file: FileIdentity) -> String {
        let major = (file.device >> 8) & 0xFFF | (file.device >> 32) & ~0xFFF
        let minor = file.device & 0xFF | (file.device >> 12) & 0xFFFF_FF00
        return [major, minor].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: ":")
    }
}

/// `1: POSIX  ADVISORY  WRITE 1234 00:1b:131 1073741824 1073742335`
private struct Line {
    let type: Substring
    let access: Substring
    let processID: Int32
    let device: String
    let inode: UInt64
    let end: UInt64

    /// Nil for a request that waits (`1: -> POSIX …`) and for what has another form.
    init?(_ text: Substring) {
        let fields = text.split(separator: " ")
        guard fields.count == 8, let processID = Int32(fields[4]) else { return nil }
        let file = fields[5].split(separator: ":")
        guard file.count == 3, let inode = UInt64(file[2]) else { return nil }
        type = fields[1]
        access = fields[3]
        self.processID = processID
        device = file[0] + ":" + file[1]
        self.inode = inode
        end = UInt64(fields[7]) ?? .max
    }

    func isOf(_ kind: LockHolder.Kind) -> Bool {
        switch kind {
        case .sqlite: type != "FLOCK" && end >= 0x4000_0000
        case .reader: type == "FLOCK" && access == "READ"
        }
    }
}
