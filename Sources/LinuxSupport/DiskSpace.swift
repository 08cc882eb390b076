import Glibc
public import SystemPackage

/// The free space of a file system.
public enum DiskSpace {
    /// Returns the space that this user may use on the file system of `file`, in bytes (fstatvfs(3)).
    public static func available(to file: FileDescriptor) throws(Errno) -> Int {
        var status = statvfs()
        guard unsafe fstatvfs(file.rawValue, &status) == 0 else { throw Errno(rawValue: errno) }
        let (bytes, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return overflow ? .max : Int(clamping: bytes)
    }
}
