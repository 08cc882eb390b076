import CLinuxSupport
import Glibc
public import SystemPackage

/// A file below a directory, without symbolic links on the way.
public enum DirectoryFile {
    /// Opens the file `name`, one or more components, below `directory`. A component of `name` that is a symbolic link is
    /// ENOTDIR, the last one ELOOP. The caller closes the descriptor, which is closed on exec.
    public static func open(
        _ name: String, below directory: String, _ mode: FileDescriptor.AccessMode
    ) throws(Errno) -> FileDescriptor {
        let file = unsafe open_below(directory, name, mode.rawValue)
        guard file >= 0 else { throw Errno(rawValue: -file) }
        return FileDescriptor(rawValue: file)
    }
}
