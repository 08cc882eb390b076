internal import Foundation
internal import LinuxSupport
internal import SystemPackage

/// A keychain under a temporary name in its final directory.
final class TemporaryStoreFile {
    let path: FilePath
    /// The final name, which did not exist when the file was created.
    let target: FilePath
    /// The descriptor whose lock shows other processes that the file is in use. Must be closed while SQLite does not
    /// have the file open, because SQLite's locks would be released with it.
    private var descriptor: FileDescriptor?

    /// Creates the file with mode 0600; SQLite gives its log the same. Creates missing directories with mode 0700.
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

    /// Renames the complete file to its final name unless that exists, and makes both durable. The store must have been
    /// closed.
    func install() throws(StoreOpenError) {
        try FileSystemCalls.synchronize(path, .readWrite)
        do throws(StoreOpenError) {
            try FileSystemCalls.manage { try $0.linkItem(atPath: path.string, toPath: target.string) }
        } catch .permissionDenied, .io {
            // A file system without hard links. Foundation checks the name before it renames.
            try FileSystemCalls.manage { try $0.moveItem(atPath: path.string, toPath: target.string) }
        }
        remove()
        try FileSystemCalls.synchronize(target.removingLastComponent(), .readOnly)
    }

    /// Removes the temporary name of a keychain that also has its final name, which a crash may have left.
    static func removeLeftovers(of file: StoreFile) {
        let directory = file.path.removingLastComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.string)) ?? []
        for name in names where name.hasPrefix(TemporaryFiles.prefix) {
            let path = directory.appending(name)
            // A file that is opened by its temporary name keeps it.
            guard path != file.path, let stat = try? FileSystemCalls.stat(path, follow: false),
                FileIdentity(stat) == file.identity
            else { continue }
            try? FileManager.default.removeItem(atPath: path.string)
        }
    }

    /// Removes the files with the temporary name.
    func remove() {
        try? FileManager.default.removeItem(atPath: path.string)
        SQLiteFileNames.removeAll(of: path.string)
        try? descriptor?.close()
        descriptor = nil
    }
}
