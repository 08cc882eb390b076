import CLinuxSupport
import Glibc
public import SystemPackage

/// An open directory (O_PATH, open(2)), in which files are created, opened and removed by their names. No symbolic link is
/// followed, and another directory at its path does not replace it.
public struct OpenDirectory: ~Copyable, Sendable {
    /// The kind of a directory entry.
    public enum EntryKind: Sendable {
        case directory
        /// A file of any other kind.
        case file
    }

    private let descriptor: FileDescriptor

    private init(_ descriptor: Int32) throws(Errno) {
        guard descriptor >= 0 else { throw Errno(rawValue: -descriptor) }
        self.descriptor = FileDescriptor(rawValue: descriptor)
    }

    /// Opens a directory. Follows symbolic links.
    ///
    /// - Throws: The errno of open(2).
    public init(at path: String) throws(Errno) {
        try self.init(unsafe open_directory(AT_FDCWD, path, true))
    }

    /// Opens a directory of this one.
    ///
    /// - Throws: The errno of openat(2), ENOTDIR for a symbolic link.
    public func directory(_ name: String) throws(Errno) -> OpenDirectory {
        try OpenDirectory(unsafe open_directory(descriptor.rawValue, name, false))
    }

    deinit {
        try? descriptor.close()
    }

    /// The identity of the mount that contains it; nil if the kernel does not report it.
    public var mount: MountIdentity? { MountIdentity(of: descriptor) }

    /// Creates and opens a file for writing (O_EXCL, mode 0600). The caller closes it.
    ///
    /// - Throws: The errno of openat(2).
    public func create(_ name: String) throws(Errno) -> FileDescriptor {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = unsafe openat(descriptor.rawValue, name, flags, 0o600)
        return FileDescriptor(rawValue: try Self.value(file))
    }

    /// Opens an existing file. The caller closes it.
    ///
    /// - Throws: The errno of openat(2), ELOOP for a symbolic link.
    public func open(_ name: String, _ mode: FileDescriptor.AccessMode) throws(Errno) -> FileDescriptor {
        let flags = mode.rawValue | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY
        return FileDescriptor(rawValue: try Self.value(unsafe openat(descriptor.rawValue, name, flags)))
    }

    /// Returns the kind of an entry.
    ///
    /// - Throws: The errno of fstatat(2).
    public func kind(of name: String) throws(Errno) -> EntryKind {
        var status = stat()
        _ = try Self.value(unsafe fstatat(descriptor.rawValue, name, &status, AT_SYMLINK_NOFOLLOW))
        return status.st_mode & S_IFMT == S_IFDIR ? .directory : .file
    }

    /// Creates a directory (mode 0700).
    ///
    /// - Throws: The errno of mkdirat(2).
    public func makeDirectory(_ name: String) throws(Errno) {
        _ = try Self.value(unsafe mkdirat(descriptor.rawValue, name, 0o700))
    }

    /// Removes a file.
    ///
    /// - Throws: The errno of unlinkat(2).
    public func remove(_ name: String) throws(Errno) {
        _ = try Self.value(unsafe unlinkat(descriptor.rawValue, name, 0))
    }

    /// Removes an empty directory.
    ///
    /// - Throws: The errno of unlinkat(2).
    public func removeDirectory(_ name: String) throws(Errno) {
        _ = try Self.value(unsafe unlinkat(descriptor.rawValue, name, AT_REMOVEDIR))
    }

    /// Returns the result of a system call, or throws its errno.
    private static func value(_ result: Int32) throws(Errno) -> Int32 {
        guard result >= 0 else { throw Errno(rawValue: errno) }
        return result
    }
}
