import DeviceState
import FileSystemCore
import Foundation
import Fuse
import Keychain
import KeychainStorage
import LinuxSupport
import Synchronization
import SystemPackage

/// The daemon's result of `backup`: a copy next to the keychain, which the client moves away.
package struct SnapshotResult: JSONText, Sendable {
    /// A complete file of mode 0600, which the client removes.
    package let file: String
    package let items: Int
    package let leftOut: Int
    package let commitNumber: Int64
    /// `verified` or `damaged`: whether the rows are as committed and match the indexes.
    package let integrity: String
}

/// Creates copies of a mounted keychain next to it. The daemon never accesses a path that a client names, because it
/// may be in the daemon's own mount, or on a medium that does not respond.
final class SnapshotWriter: Sendable {
    /// The time in seconds after which a client's copy is removed.
    private static let timeout: TimeInterval = 600
    /// The prefix of every copy's name.
    private static let namePrefix = ".keychainfs-backup-"
    private let opened: OpenedKeychain
    private let directory: String
    /// The prefix of the copies of this keychain, which no other keychain in the directory uses.
    private let prefix: String
    private let making = Mutex<Void>(())

    /// - Parameter path: The keychain's file.
    init(_ opened: OpenedKeychain, path: String) {
        self.opened = opened
        directory = FilePath(path).removingLastComponent().string
        prefix = Self.namePrefix + Self.identifier(of: path) + "-"
    }

    /// Whether a file can be a copy, by its name. A client removes the file that a daemon names, which any user may
    /// run.
    static func canBeCopy(_ path: String) -> Bool {
        FilePath(path).lastComponent?.string.hasPrefix(namePrefix) == true
    }

    /// Creates a copy.
    ///
    /// - Throws: `inUse` during another copy.
    func make() throws(KeychainFault) -> SnapshotResult {
        let result = try making.withLockIfAvailable { (_) throws(KeychainFault) in
            removeLeftovers(olderThan: Self.timeout)
            let path = directory + "/" + prefix + String(UInt64.random(in: 0 ... .max), radix: 16)
            do throws(KeychainFault) {
                try create(path)
                let contents = try copy(opened, to: path)
                return SnapshotResult(
                    file: path, items: contents.items, leftOut: contents.leftOut, commitNumber: contents.commitNumber,
                    integrity: try opened.integrity(of: contents).rawValue)
            } catch {
                remove(path)
                throw error
            }
        }
        guard let result else { throw .inUse(processID: getpid()) }
        return result
    }

    /// Removes copies that no client has moved away, and remains of a daemon that has died.
    func removeLeftovers(olderThan age: TimeInterval = 0) {
        let manager = FileManager.default
        for name in (try? manager.contentsOfDirectory(atPath: directory)) ?? [] where name.hasPrefix(prefix) {
            let path = directory + "/" + name
            let date = (try? manager.attributesOfItem(atPath: path))?[.modificationDate] as? Date
            guard age == 0 || date.map({ -$0.timeIntervalSinceNow > age }) != false else { continue }
            try? manager.removeItem(atPath: path)
        }
    }

    /// Both files are on the disk of the keychain.
    private func copy(_ opened: OpenedKeychain, to path: String) throws(KeychainFault) -> BackupContents {
        do throws(CopyError<KeychainFault>) { return try opened.copy(to: path) } catch { throw error.cause }
    }

    /// Creates an empty file with mode 0600; SQLite would use the umask. Also the directory, if it was deleted together with the
    /// keychain's file: then this copy is all that remains.
    private func create(_ path: String) throws(KeychainFault) {
        try? FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        do {
            try FileDescriptor.open(
                FilePath(path), .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec],
                permissions: .ownerReadWrite
            ).close()
        } catch {
            throw KeychainFault(Errno(within: error))
        }
    }

    private func remove(_ path: String) {
        try? FileManager.default.removeItem(atPath: path)
        SQLiteFileNames.removeAll(of: path)
    }

    /// Returns an identifier of fixed length, regardless of the length of the name.
    private static func identifier(of path: String) -> String {
        let name = FilePath(path).lastComponent?.string ?? ""
        let hash = Array(name.utf8).reduce(UInt64(14_695_981_039_346_656_037)) {
            ($0 ^ UInt64($1)) &* 1_099_511_628_211
        }
        return String(hash, radix: 16)
    }
}
