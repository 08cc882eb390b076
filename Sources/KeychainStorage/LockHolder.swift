internal import Foundation
internal import Glibc
internal import LinuxSupport
internal import SystemPackage

/// A file as it appears in the kernel's list of locks: `MAJOR:MINOR:INODE` (proc_locks(5)).
///
/// The list is used instead of F_GETLK, which needs a descriptor, whose closing would release locks, and does not
/// report flock(2).
struct LockedFile: Hashable, Sendable {
    let name: String

    /// Creates the name from stat(2), whose device is not always the kernel's (btrfs and overlayfs report another one).
    init(_ file: FileIdentity) {
        // The parts of dev_t of the C library (makedev(3)), in the kernel's format (`%02x:%02x:%lu`).
        let major = (file.device >> 8) & 0xFFF | (file.device >> 32) & ~0xFFF
        let minor = file.device & 0xFF | (file.device >> 12) & 0xFFFF_FF00
        let device = [major, minor].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        name = device.joined(separator: ":") + ":\(file.inode)"
    }

    /// Determines the name by the lock that this process holds on `descriptor`; nil without a lock, or without `/proc`.
    init?(lockedBy descriptor: FileDescriptor) {
        guard let line = LockLine.ofDescriptor("\(descriptor.rawValue)").first else { return nil }
        name = line.file
    }
}

/// Finds the process that has locked a file, in the kernel's list.
enum LockHolder {
    /// The bytes that SQLite locks (os_unix.c, `PENDING_BYTE`).
    private static let sqliteBytes: Range<Int64> = 0x4000_0000..<0x4000_0200

    /// Returns the process that has opened the file for writing; nil if no process has, or the file system has no locks: SQLite
    /// cannot open a file for writing there. Does not need `/proc`.
    static func writer(of descriptor: FileDescriptor) throws(StoreOpenError) -> Int32? {
        do throws(Errno) {
            return try WriteLock.holder(of: sqliteBytes, in: descriptor)
        } catch .noLocks, .invalidArgument, .notSupported, .noFunction {
            return nil
        } catch {
            throw StoreOpenError(error)
        }
    }

    enum Kind {
        /// SQLite's POSIX lock for writing, on any of its lock bytes (from 0x4000_0000, os_unix.c).
        case sqlite
        /// A shared flock(2), held by a process that has opened the store for reading only.
        case reader
    }

    /// Returns the process that holds the lock; nil if no process holds it, or it is in a PID namespace that is not visible.
    static func processID(
        of kind: Kind, on file: LockedFile, except own: Int32? = nil, locks: String? = nil
    ) -> Int32? {
        let text = locks ?? (try? String(contentsOfFile: "/proc/locks", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").lazy.compactMap { LockLine($0) }
            .first { $0.file == file.name && $0.isOf(kind) && $0.processID != own }?.processID
    }

    /// The number of descriptors of this process with a shared flock(2) on the file.
    static func ownLocks(on file: LockedFile) -> Int {
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo")) ?? []
        return descriptors.count { descriptor in
            LockLine.ofDescriptor(descriptor).contains { $0.file == file.name && $0.isOf(.reader) }
        }
    }
}

/// `1: POSIX  ADVISORY  WRITE 1234 00:1b:131 1073741824 1073742335`
private struct LockLine {
    let file: String
    let processID: Int32
    private let type: Substring
    private let access: Substring
    private let end: UInt64

    /// Parses a line; nil for a waiting request (`1: -> POSIX …`) and for any other format.
    init?(_ text: Substring) {
        let fields = text.split { $0 == " " || $0 == "\t" }
        guard fields.count == 8, let processID = Int32(fields[4]) else { return nil }
        type = fields[1]
        access = fields[3]
        self.processID = processID
        file = String(fields[5])
        end = UInt64(fields[7]) ?? .max
    }

    /// Returns the locks of a descriptor of this process (proc_pid_fdinfo(5)).
    static func ofDescriptor(_ number: String) -> [LockLine] {
        let text = (try? String(contentsOfFile: "/proc/self/fdinfo/\(number)", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            line.hasPrefix("lock:") ? LockLine(line.dropFirst("lock:".count)) : nil
        }
    }

    func isOf(_ kind: LockHolder.Kind) -> Bool {
        switch kind {
        case .sqlite: type != "FLOCK" && access == "WRITE" && end >= 0x4000_0000
        case .reader: type == "FLOCK" && access == "READ"
        }
    }
}
