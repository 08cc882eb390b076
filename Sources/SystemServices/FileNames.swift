import CSystemServices
import Glibc
public import SystemPackage

/// Changes of names that Foundation has no exact call for.
public enum FileNames {
    /// Gives a file another name that nothing has; EEXIST if something has it, be it a dangling link. Atomic.
    ///
    /// renameat2(2) with RENAME_NOREPLACE; where the file system does not know that, link(2) and unlink(2).
    public static func moveToFree(_ path: String, _ newPath: String) throws(Errno) {
        let noReplace: UInt32 = 1
        guard unsafe renameat2(AT_FDCWD, path, AT_FDCWD, newPath, noReplace) != 0 else { return }
        guard errno == EINVAL || errno == ENOSYS else { throw Errno(rawValue: errno) }
        try link(path, newPath)
        unsafe unlink(path)
    }

    /// Gives a file another name; what had it is gone (rename(2)). Atomic.
    public static func replace(_ path: String, _ newPath: String) throws(Errno) {
        guard unsafe rename(path, newPath) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Swaps two names (renameat2(2) with RENAME_EXCHANGE). Atomic; EINVAL where the file system does not know it.
    public static func exchange(_ path: String, _ newPath: String) throws(Errno) {
        let exchange: UInt32 = 2
        guard unsafe renameat2(AT_FDCWD, path, AT_FDCWD, newPath, exchange) == 0 else { throw Errno(rawValue: errno) }
    }

    /// A second name of a file; EEXIST if something has it (link(2)).
    public static func link(_ path: String, _ newPath: String) throws(Errno) {
        guard unsafe Glibc.link(path, newPath) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Makes a directory of mode 0700, and those that it lies in as far as they are missing; one that is there is no error.
    /// Durable when it returns: what is kept in it is found again after a power cut.
    public static func makeDirectory(_ path: String) throws(Errno) {
        let parent = FilePath(path).removingLastComponent().string
        if unsafe mkdir(path, 0o700) == 0 { return try synchronize(directory: parent.isEmpty ? "." : parent) }
        switch errno {
        case EEXIST: return
        case ENOENT where !parent.isEmpty && parent != path:
            try makeDirectory(parent)
            try makeDirectory(path)
        case let number: throw Errno(rawValue: number)
        }
    }

    /// Makes the names in a directory durable (fsync(2)).
    public static func synchronize(directory path: String) throws(Errno) {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        defer { close(descriptor) }
        // EINVAL: a file system whose directories cannot be synchronized.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw Errno(rawValue: errno) }
    }
}
