import CFuse3
public import FileSystemCore
import Glibc
public import SystemPackage

extension FileSystemStatistics {
    /// Reads the statistics of the file system that contains `path`, which must not be in this process's own mount.
    ///
    /// - Throws: The errno of open(2) or fstatvfs(3).
    public init(ofPath path: String) throws(Errno) {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        defer { close(descriptor) }
        var status = statvfs()
        guard unsafe fstatvfs(descriptor, &status) == 0 else { throw Errno(rawValue: errno) }
        self.init(
            blockSize: UInt64(status.f_frsize), blocks: UInt64(status.f_blocks), freeBlocks: UInt64(status.f_bfree),
            availableBlocks: UInt64(status.f_bavail), files: UInt64(status.f_files),
            freeFiles: UInt64(status.f_ffree), maximumNameLength: UInt64(status.f_namemax))
    }
}
