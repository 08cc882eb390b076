import CLinuxSupport
import Glibc
public import SystemPackage

/// Changes of names for which Foundation has no exact function.
public enum FileRenaming {
    /// Renames a file unless the new name exists. Atomic.
    ///
    /// Uses renameat2(2) with RENAME_NOREPLACE; on a file system without it, link(2) and unlink(2).
    ///
    /// - Throws: EEXIST if the new name exists, even as a dangling symbolic link.
    public static func renameNoReplace(_ path: String, _ newPath: String) throws(Errno) {
        let noReplace: UInt32 = 1
        guard unsafe renameat2(AT_FDCWD, path, AT_FDCWD, newPath, noReplace) != 0 else { return }
        guard errno == EINVAL || errno == ENOSYS else { throw Errno(rawValue: errno) }
        try link(path, newPath)
        unsafe unlink(path)
    }

    /// Renames a file and replaces the target (rename(2)). Atomic.
    public static func replace(_ path: String, _ newPath: String) throws(Errno) {
        guard unsafe rename(path, newPath) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Exchanges two names (renameat2(2) with RENAME_EXCHANGE). Atomic.
    ///
    /// - Throws: EINVAL if the file system does not support it.
    public static func exchange(_ path: String, _ newPath: String) throws(Errno) {
        let exchange: UInt32 = 2
        guard unsafe renameat2(AT_FDCWD, path, AT_FDCWD, newPath, exchange) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Creates a hard link (link(2)).
    ///
    /// - Throws: EEXIST if the new name exists.
    public static func link(_ path: String, _ newPath: String) throws(Errno) {
        guard unsafe Glibc.link(path, newPath) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Creates a directory (mode 0700) and its missing parents. An existing directory, or a link to one, is not an error.
    /// All new names are durable on return.
    ///
    /// - Throws: What mkdir(2) returned. ENOTDIR for a file and ENOENT for a dangling link in place of a directory, and ENOENT where
    ///   the file system creates no directories, as in `/proc`.
    public static func makeDirectory(_ path: String) throws(Errno) {
        var missing: [FilePath] = []
        var next = FilePath(path)
        while !(try makeOneDirectory(next)) {
            let parent = next.removingLastComponent()
            guard !parent.isEmpty, parent != next else { throw .noSuchFileOrDirectory }
            missing.append(next)
            next = parent
        }
        for directory in missing.reversed() {
            // The parent exists now: a second ENOENT would be permanent.
            guard try makeOneDirectory(directory) else { throw .noSuchFileOrDirectory }
        }
    }

    /// Creates one directory, durably. Returns false if mkdir(2) fails with ENOENT, or the name is a dangling link.
    private static func makeOneDirectory(_ path: FilePath) throws(Errno) -> Bool {
        if unsafe mkdir(path.string, 0o700) == 0 {
            let parent = path.removingLastComponent().string
            try synchronize(directory: parent.isEmpty ? "." : parent)
            return true
        }
        switch errno {
        case ENOENT: return false
        case EEXIST: return try isDirectory(path.string)
        case let number: throw Errno(rawValue: number)
        }
    }

    /// Returns false for a dangling link. Uses stat(2), because a directory that may be searched need not be readable.
    private static func isDirectory(_ path: String) throws(Errno) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            guard errno == ENOENT else { throw Errno(rawValue: errno) }
            return false
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .notDirectory }
        return true
    }

    /// Makes the names in a directory durable (fsync(2)).
    public static func synchronize(directory path: String) throws(Errno) {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        defer { close(descriptor) }
        // EINVAL: the file system does not support it for directories.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw Errno(rawValue: errno) }
    }
}
