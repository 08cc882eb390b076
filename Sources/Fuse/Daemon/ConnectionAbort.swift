import CFuse3
import Glibc
import LinuxSupport

/// Ends a connection to the kernel from outside: whoever waits for an answer gets an error, whatever its daemon does.
enum ConnectionAbort {
    /// Of the mount `entry`: through fusectl, whose file belongs to the mounting user, or as root with MNT_FORCE, which
    /// also takes the mount out of the tree. Returns false where neither is possible.
    @discardableResult
    static func run(_ entry: MountTable.Entry) -> Bool {
        if writesControlFile(entry.deviceMinor) { return true }
        guard geteuid() == 0 else { return false }
        return unsafe umount2(entry.path, Int32(MNT_FORCE) | cfuse3_umount_detach) == 0
    }

    /// The kernel's Documentation/filesystems/fuse: writing anything there aborts.
    private static func writesControlFile(_ number: Int) -> Bool {
        let file = unsafe Glibc.open("/sys/fs/fuse/connections/\(number)/abort", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var text = UInt8(ascii: "1")
        return unsafe write(file, &text, 1) == 1
    }
}
