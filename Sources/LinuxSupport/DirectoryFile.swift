import CLinuxSupport
import Glibc
public import SystemPackage

/// Opens files below a directory without following symbolic links.
public enum DirectoryFile {
    /// Opens the file `name`, one or more components, below `directory`.
    ///
    /// - Returns: A descriptor with FD_CLOEXEC, which the caller must close.
    /// - Throws: ENOTDIR if a component is a symbolic link, ELOOP if the last one is.
    public static func open(
        _ name: String, below directory: String, _ mode: FileDescriptor.AccessMode
    ) throws(Errno) -> FileDescriptor {
        let file = unsafe open_below(directory, name, mode.rawValue)
        guard file >= 0 else { throw Errno(rawValue: -file) }
        return FileDescriptor(rawValue: file)
    }
}
