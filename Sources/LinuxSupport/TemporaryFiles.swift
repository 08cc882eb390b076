// Has timespec, too: which module that belongs to depends on the order in which the compiler meets them.
import CLinuxSupport
import Foundation
import Glibc
public import SystemPackage

/// Files in one directory that are written under a name of their own until they are whole, and what is left of them of
/// processes that were killed.
///
/// Who writes to one has a shared lock on it (flock(2)). Who removes what is left has an exclusive one until the name is gone.
/// So of two that meet at a file the second one sees the first: it takes another name, or leaves the file alone.
public struct TemporaryFiles: Sendable {
    /// What all of their names begin with.
    public static let prefix = ".keychainfs-new-"
    /// On a file system without flock(2): nobody writes to one for so long, in seconds.
    private static let abandonedAfter = 3600
    private static let attempts = 100

    /// What somebody who wants to remove one finds.
    private enum Claim {
        /// Nobody else gets it until the descriptor is closed.
        case granted(FileDescriptor)
        /// Gone already; what SQLite keeps beside it may be left.
        case missing
        case inUse
        /// Something else that has such a name.
        case notTemporary
    }

    private let directory: FilePath

    public init(in directory: FilePath) {
        self.directory = directory.isEmpty ? "." : directory
    }

    /// A new one, empty, mode 0600, locked by the descriptor.
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
            // Somebody takes it for a leftover at this moment.
            remove(path)
            try? file.close()
        }
        throw .resourceTemporarilyUnavailable
    }

    /// Removes those that nobody is at work on, with what SQLite has left beside them.
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

    /// Whether somebody is at work on one.
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

    /// Opened for writing: NFS gives no exclusive lock otherwise.
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

    /// False: another one has a lock that excludes this one. Nil: the file system has none.
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

    /// A file; never a directory, whatever it is called.
    private func remove(_ path: FilePath) { unsafe unlink(path.string) }
}
