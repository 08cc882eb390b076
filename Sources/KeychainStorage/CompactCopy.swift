internal import Foundation
internal import Glibc
internal import LinuxSupport
internal import SystemPackage

/// The new file of a compaction, in the directory of the original. Removed at the end of this object's lifetime, unless
/// it has replaced the original.
final class CompactCopy {
    /// The path of the file, which is empty at first and has mode 0600.
    let path: FilePath
    private let original: FilePath
    /// The descriptor, whose shared lock marks the file as in use; see ``TemporaryFiles``.
    private let file: FileDescriptor
    /// The identity registered in ``OpenDatabases``: closing `file` would release the locks of a connection of this
    /// process to the new file. Nil if it could not be registered.
    private let identity: FileIdentity?
    private var hasReplaced = false

    init(of original: FilePath) throws(StoreOpenError) {
        self.original = original
        do throws(Errno) {
            (file, path) = try TemporaryFiles(in: original.removingLastComponent()).create()
        } catch {
            throw StoreOpenError(error)
        }
        let found = (try? Stat(file)).map(FileIdentity.init)
        let path = path
        identity = found.flatMap { (try? OpenDatabases.shared.claim($0, at: path)) == true ? $0 : nil }
    }

    deinit {
        if !hasReplaced {
            SQLiteFileNames.removeAll(of: path.string)
            try? FileManager.default.removeItem(atPath: path.string)
        }
        try? file.close()
        if let identity { OpenDatabases.shared.release(identity) }
    }

    /// Returns the disk space that this user may use, in bytes.
    func availableBytes() throws(StoreOpenError) -> Int {
        do throws(Errno) { return try DiskSpace.available(to: file) } catch { throw StoreOpenError(error) }
    }

    /// Returns the size of this file in bytes, even if the path now names another one.
    func byteCount() throws(StoreOpenError) -> Int {
        do { return Int(clamping: try Stat(file).size) } catch { throw StoreOpenError(opening: error) }
    }

    /// Sets owner and mode of the original, and makes both and the contents durable.
    ///
    /// - Throws: `permissionDenied` if this user must not set the owner.
    func prepare() throws(StoreOpenError) {
        let status = try FileSystemCalls.stat(original)
        guard fchown(file.rawValue, status.userID.rawValue, status.groupID.rawValue) == 0,
            fchmod(file.rawValue, status.permissions.rawValue) == 0, fsync(file.rawValue) == 0
        else { throw StoreOpenError(Errno(rawValue: errno)) }
    }

    /// Renames the copy to the name of the original, durably.
    func replaceOriginal() throws(StoreOpenError) {
        do throws(Errno) {
            try FileRenaming.replace(path.string, original.string)
            hasReplaced = true
            try FileRenaming.synchronize(directory: original.removingLastComponent().string)
        } catch {
            throw StoreOpenError(error)
        }
    }
}
