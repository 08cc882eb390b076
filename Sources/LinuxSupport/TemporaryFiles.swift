// CLinuxSupport declares timespec, too; the module that the compiler finds first owns it.
import CLinuxSupport
import Foundation
import Glibc
public import SystemPackage

/// Temporary files in one directory, which are renamed when they are complete, and leftovers of killed processes.
///
/// The writer of a file holds a shared lock on it (flock(2)). A process that removes leftovers holds an exclusive lock
/// until the name has been removed. If both meet at a file, the second one detects the first: it uses another name, or
/// leaves the file alone.
public struct TemporaryFiles: Sendable {
    /// The prefix of all names.
    public static let prefix = ".keychainfs-new-"
    /// The age in seconds after which a file is a leftover on a file system without flock(2).
    private static let abandonedAfter = 3600
    private static let attempts = 100

    /// The result of an attempt to claim a leftover.
    private enum Claim {
        /// Claimed until the descriptor is closed.
        case granted(FileDescriptor)
        /// The file no longer exists; files of SQLite next to it may.
        case missing
        case inUse
        /// Another kind of file with such a name.
        case notTemporary
    }

    private let directory: FilePath

    public init(in directory: FilePath) {
        self.directory = directory.isEmpty ? "." : directory
    }

    /// Creates an empty file, mode 0600, and locks it with the descriptor.
    public func create() throws(Errno) -> (file: FileDescriptor, path: FilePath) {
        for _ in 1...Self.attempts {
            let path = directory.appending(Self.prefix + String(UInt64.random(in: 0 ... .max), radix: 16))
            let file: FileDescriptor
            do {
                file = try FileDescriptor.open(
                    path, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec, .noFollow],
                    permissions: .ownerReadWrite)
            } catch {
                throw error as? Errno ?? .ioError
            }
            if Self.lock(file, LOCK_SH) != false, Self.isSame(file, path) { return (file, path) }
            // A process that removes leftovers has claimed the file.
            remove(path)
            try? file.close()
        }
        throw .resourceTemporarilyUnavailable
    }

    /// Removes the leftovers, and the files of SQLite next to them.
    public func removeLeftovers() {
        let names = names
        for file in temporaryFiles(names) {
            let path = directory.appending(file)
            let claim = claim(path)
            switch claim {
            case .inUse, .notTemporary: continue
            case .granted, .missing: break
            }
            for end in SQLiteFileNames.suffixes where names.contains(file + end) {
                remove(directory.appending(file + end))
            }
            guard case .granted(let file) = claim else { continue }
            if Self.isSame(file, path) { remove(path) }
            try? file.close()
        }
    }

    /// Whether a process is writing to one of the files.
    public var isAnyInUse: Bool {
        temporaryFiles(names).contains { file in
            switch claim(directory.appending(file)) {
            case .inUse: return true
            case .missing, .notTemporary: return false
            case .granted(let file):
                try? file.close()
                return false
            }
        }
    }

    private var names: Set<String> {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: directory.string)) ?? []
        return Set(all.filter { $0.hasPrefix(Self.prefix) })
    }

    private func temporaryFiles(_ names: Set<String>) -> Set<String> {
        Set(
            names.map { name in
                SQLiteFileNames.suffixes.first { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) } ?? name
            })
    }

    /// Opens and locks a leftover. For writing, because NFS permits no exclusive lock otherwise.
    private func claim(_ path: FilePath) -> Claim {
        let file: FileDescriptor
        do {
            file = try FileDescriptor.open(path, .readWrite, options: [.closeOnExec, .noFollow, .nonBlocking])
        } catch Errno.noSuchFileOrDirectory {
            return .missing
        } catch Errno.permissionDenied {
            return .inUse
        } catch {
            return .notTemporary
        }
        guard let status = try? Stat(file), status.type == .regular else {
            try? file.close()
            return .notTemporary
        }
        if Self.lock(file, LOCK_EX) ?? (status.st_mtim.tv_sec + Self.abandonedAfter < time(nil)) {
            return .granted(file)
        }
        try? file.close()
        return .inUse
    }

    /// Locks a file without blocking.
    ///
    /// - Returns: False if a conflicting lock exists; nil if the file system does not support locks.
    private static func lock(_ file: FileDescriptor, _ kind: CInt) -> Bool? {
        if flock(file.rawValue, kind | LOCK_NB) == 0 { return true }
        return errno == EWOULDBLOCK ? false : nil
    }

    private static func isSame(_ file: FileDescriptor, _ path: FilePath) -> Bool {
        guard let opened = try? Stat(file), let named = try? Stat(path, followTargetSymlink: false) else {
            return false
        }
        return opened.deviceID == named.deviceID && opened.inode == named.inode
    }

    /// Removes a file; never a directory.
    private func remove(_ path: FilePath) { unsafe unlink(path.string) }
}
