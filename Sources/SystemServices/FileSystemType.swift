import CSystemServices
import Glibc
public import SystemPackage

/// What kind of file system a file lies in (statfs(2)).
public enum FileSystemType {
    /// FUSE_SUPER_MAGIC of <linux/magic.h>.
    private static let fuse = 0x6573_5546

    /// Whether it is one of FUSE. The kernel asks the file system for it.
    public static func isFuse(_ file: FileDescriptor) throws(Errno) -> Bool {
        var status = statfs()
        guard unsafe fstatfs(file.rawValue, &status) == 0 else { throw Errno(rawValue: errno) }
        return Int(status.f_type) == fuse
    }
}
