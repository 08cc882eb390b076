import CFuse3
public import FileSystemCore
import Glibc
public import SystemPackage

extension FileSystemStatistics {
    /// Of the file system that holds `path`, which must not lie in one's own mount; throws what open(2) and fstatvfs(3) do.
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
