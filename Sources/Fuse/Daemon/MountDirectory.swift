import CFuse3
import Glibc
import LinuxSupport
import SystemPackage

/// A directory that becomes a mount point. It is held open, because a mount hides it.
///
/// `prepare` makes it writable, since fusermount3 refuses a directory that its user cannot write to. `seal`, called
/// after the mount and again after the unmount, makes it read-only, so that no program writes below a mount by mistake.
public struct MountDirectory: ~Copyable, Sendable {
    /// The path as given; absolute and without symbolic links.
    public let path: String
    private let descriptor: Int32
    /// The permissions when it was opened.
    private var permissions: UInt32 = 0o700

    /// Opens the empty directory at `path`.
    ///
    /// Reads the mount table first, so that a mount that does not respond is never accessed.
    public init(at path: String) throws(MountPointError) {
        self.path = path
        let mount = (try? MountTable.current())?.mount(at: path)
        descriptor = mount == nil ? unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1
        let error = errno
        if let mount { throw .alreadyMounted(type: mount.type) }
        guard descriptor >= 0 else { throw Self.error(error, call: "open") }
        try requireOwner()
        try requireEmpty()
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Sets the permissions to 0700.
    public func prepare() throws(MountPointError) { try setPermissions(0o700) }

    /// Sets the permissions of the directory below the mount to 0500.
    public func seal() throws(MountPointError) { try setPermissions(0o500) }

    /// Restores the permissions that it had when it was opened.
    public func restore() throws(MountPointError) { try setPermissions(permissions) }

    private func setPermissions(_ permissions: UInt32) throws(MountPointError) {
        guard fchmod(descriptor, permissions) == 0 else { throw Self.error(errno, call: "fchmod") }
    }

    private mutating func requireOwner() throws(MountPointError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw Self.error(errno, call: "fstat") }
        guard status.st_uid == geteuid() || geteuid() == 0 else { throw .notOwned }
        permissions = status.st_mode & 0o7777
    }

    private func requireEmpty() throws(MountPointError) {
        let copy = unsafe openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { throw Self.error(errno, call: "openat") }
        guard let directory = unsafe fdopendir(copy) else {
            close(copy)
            throw Self.error(errno, call: "fdopendir")
        }
        defer { unsafe closedir(directory) }
        while let entry = unsafe readdir(directory) {
            // `.` and `..` do not count as contents.
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe Array(bytes.prefix { $0 != 0 })
            }
            guard name == Array(".".utf8) || name == Array("..".utf8) else { throw .notEmpty }
        }
    }

    private static func error(_ number: Int32, call: String) -> MountPointError {
        switch number {
        case ENOENT: .missing
        case ENOTDIR: .notDirectory
        default: .system(Errno(rawValue: number), call: call)
        }
    }
}
