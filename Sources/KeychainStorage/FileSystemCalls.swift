internal import Foundation
internal import Glibc
internal import LinuxSupport
internal import SystemPackage

/// System calls on files and directories that throw errors of opening a store.
enum FileSystemCalls {
    /// Calls stat(2), or lstat(2) if links are not followed.
    static func stat(_ path: FilePath, follow: Bool = true) throws(StoreOpenError) -> Stat {
        do {
            return try Stat(path, followTargetSymlink: follow)
        } catch {
            throw StoreOpenError(error)
        }
    }

    /// Whether a file of any type has that name, including a dangling symbolic link.
    static func exists(_ path: FilePath) -> Bool {
        (try? stat(path, follow: false)) != nil
    }

    /// Creates a directory and its missing parents, see ``FileRenaming/makeDirectory(_:)``.
    static func createDirectory(_ path: FilePath) throws(StoreOpenError) {
        do throws(Errno) {
            try FileRenaming.makeDirectory(path.string)
        } catch {
            throw error == .notDirectory ? .notRegularFile : StoreOpenError(error)
        }
    }

    /// Makes the contents of a file, or the entries of a directory, durable (fsync(2)).
    static func synchronize(_ path: FilePath, _ access: FileDescriptor.AccessMode) throws(StoreOpenError) {
        do {
            let descriptor = try FileDescriptor.open(path, access, options: [.closeOnExec])
            defer { try? descriptor.close() }
            // EINVAL: the file system does not support it for directories.
            guard fsync(descriptor.rawValue) == 0 || errno == EINVAL else { throw Errno(rawValue: errno) }
        } catch {
            throw StoreOpenError(error as? Errno ?? .ioError)
        }
    }

    /// Runs `body`, and throws the errno that Foundation wraps.
    static func manage(_ body: (FileManager) throws -> Void) throws(StoreOpenError) {
        do {
            try body(FileManager.default)
        } catch {
            throw StoreOpenError(number(in: error))
        }
    }

    private static func number(in error: any Error) -> Errno {
        if let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError {
            return Errno(rawValue: CInt(truncatingIfNeeded: cause.code))
        }
        return (error as? CocoaError)?.code == .fileWriteFileExists ? .fileExists : .ioError
    }
}
