import DeviceState
import FileSystemCore
import Foundation
import Fuse
import Keychain
import LinuxSupport
import Synchronization
import SystemPackage

/// What a daemon answers to `backup`: a copy that lies beside the keychain, for the client to take away.
package struct SnapshotResult: JSONText, Sendable {
    /// A whole file, of mode 0600; the client removes it.
    package let file: String
    package let items: Int
    package let leftOut: Int
    package let commitNumber: Int64
    /// `verified` or `damaged`: whether the rows are those that were committed, and the indexes lead to them.
    package let integrity: String
}

/// Makes copies of a mounted keychain, beside it: a path that a client names is never touched by the daemon, because it
/// may lie in the daemon's own mount, or on a medium that does not answer.
final class SnapshotWriter: Sendable {
    /// So long a client has for taking a copy away.
    private static let timeout: TimeInterval = 600
    /// What every copy's name begins with.
    private static let namePrefix = ".keychainfs-backup-"
    private let opened: OpenedKeychain
    private let directory: String
    /// What all copies of this keychain, and of no other one in the directory, begin with.
    private let prefix: String
    private let making = Mutex<Void>(())

    /// `path`: the keychain's file.
    init(_ opened: OpenedKeychain, path: String) {
        self.opened = opened
        directory = FilePath(path).removingLastComponent().string
        prefix = Self.namePrefix + Self.identifier(of: path) + "-"
    }

    /// Whether a file can be a copy, by its name: a client removes what it is told, and is told so by whoever has mounted.
    static func canBeCopy(_ path: String) -> Bool {
        FilePath(path).lastComponent?.string.hasPrefix(namePrefix) == true
    }

    /// `inUse` while another one is being made.
    func make() throws(KeychainFault) -> SnapshotResult {
        let result = try making.withLockIfAvailable { (_) throws(KeychainFault) in
            removeLeftovers(olderThan: Self.timeout)
            let path = directory + "/" + prefix + String(UInt64.random(in: 0 ... .max), radix: 16)
            do throws(KeychainFault) {
                try create(path)
                let contents = try opened.copy(to: path)
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

    /// Removes copies that nobody has taken away, and what a daemon that died left of one.
    func removeLeftovers(olderThan age: TimeInterval = 0) {
        let manager = FileManager.default
        for name in (try? manager.contentsOfDirectory(atPath: directory)) ?? [] where name.hasPrefix(prefix) {
            let path = directory + "/" + name
            let date = (try? manager.attributesOfItem(atPath: path))?[.modificationDate] as? Date
            guard age == 0 || date.map({ -$0.timeIntervalSinceNow > age }) != false else { continue }
            try? manager.removeItem(atPath: path)
        }
    }

    /// SQLite would make it with the mode of the umask.
    private func create(_ path: String) throws(KeychainFault) {
        do {
            try FileDescriptor.open(
                FilePath(path), .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec],
                permissions: .ownerReadWrite
            ).close()
        } catch {
            let errno = Errno(within: error)
            throw errno == .noSpace ? .diskFull : errno == .readOnlyFileSystem ? .readOnly : .io(-errno.rawValue)
        }
    }

    private func remove(_ path: String) {
        try? FileManager.default.removeItem(atPath: path)
        SQLiteFileNames.removeAll(of: path)
    }

    /// Of fixed length, whatever the name's.
    private static func identifier(of path: String) -> String {
        let name = FilePath(path).lastComponent?.string ?? ""
        let hash = Array(name.utf8).reduce(UInt64(14_695_981_039_346_656_037)) {
            ($0 ^ UInt64($1)) &* 1_099_511_628_211
        }
        return String(hash, radix: 16)
    }
}
