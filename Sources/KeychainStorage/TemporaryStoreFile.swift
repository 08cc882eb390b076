internal import Foundation
internal import LinuxSupport
internal import SystemPackage

/// A keychain that has no name yet: an empty file beside the place where it will be.
final class TemporaryStoreFile {
    let path: FilePath
    /// The name that it will have; nothing had it when the file was made.
    let target: FilePath
    /// Tells who removes what others have left that somebody is at work. To be closed while SQLite has the file not open,
    /// whose own locks would go with it.
    private var descriptor: FileDescriptor?

    /// Mode 0600 from the first moment; SQLite gives its log the same. Creates missing directories, mode 0700.
    init(for path: String) throws(StoreOpenError) {
        target = FilePath(URL(fileURLWithPath: path).path)
        guard !FileSystemCalls.exists(target) else { throw .alreadyExists }
        try StoreNeighbors(of: target).requireNone()
        let directory = target.removingLastComponent()
        try FileSystemCalls.createDirectory(directory)
        do throws(Errno) {
            let new = try TemporaryFiles(in: directory).create()
            (self.path, descriptor) = (new.path, new.file)
        } catch {
            throw StoreOpenError(error)
        }
    }

    var file: StoreFile {
        get throws(StoreOpenError) { try StoreFile(path: path.string) }
    }

    /// Gives the finished file its name, if still nothing has it, and makes both durable. Closed before.
    func install() throws(StoreOpenError) {
        try FileSystemCalls.synchronize(path, .readWrite)
        do throws(StoreOpenError) {
            try FileSystemCalls.manage { try $0.linkItem(atPath: path.string, toPath: target.string) }
        } catch .permissionDenied, .io {
            // A file system without hard links. Foundation looks before it renames.
            try FileSystemCalls.manage { try $0.moveItem(atPath: path.string, toPath: target.string) }
        }
        remove()
        try FileSystemCalls.synchronize(target.removingLastComponent(), .readOnly)
    }

    /// Removes the file's name of a keychain that has got its own, if a crash has left it.
    static func removeLeftovers(of file: StoreFile) {
        let directory = file.path.removingLastComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.string)) ?? []
        for name in names where name.hasPrefix(TemporaryFiles.prefix) {
            let path = directory.appending(name)
            // A file that is opened itself keeps its only name.
            guard path != file.path, let stat = try? FileSystemCalls.stat(path, follow: false),
                FileIdentity(stat) == file.identity
            else { continue }
            try? FileManager.default.removeItem(atPath: path.string)
        }
    }

    /// Removes what is left under the old name; nothing of it is needed any more.
    func remove() {
        try? FileManager.default.removeItem(atPath: path.string)
        SQLiteFileNames.removeAll(of: path.string)
        try? descriptor?.close()
        descriptor = nil
    }
}
