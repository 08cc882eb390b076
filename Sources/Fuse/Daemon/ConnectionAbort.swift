import CFuse3
import Glibc
import LinuxSupport

/// Aborts a FUSE connection from outside: pending requests fail, regardless of the state of the daemon.
enum ConnectionAbort {
    /// Aborts the connection of a mount.
    ///
    /// Uses fusectl, whose file belongs to the mounting user, or as root MNT_FORCE, which also detaches the mount.
    ///
    /// - Returns: Whether one of them was possible.
    @discardableResult
    static func run(_ entry: MountTable.Entry) -> Bool {
        if writesControlFile(entry.deviceMinor) { return true }
        guard geteuid() == 0 else { return false }
        return unsafe umount2(entry.path, Int32(MNT_FORCE) | cfuse3_umount_detach) == 0
    }

    /// Writing to the file aborts the connection (the kernel's Documentation/filesystems/fuse).
    private static func writesControlFile(_ number: Int) -> Bool {
        let file = unsafe Glibc.open("/sys/fs/fuse/connections/\(number)/abort", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var text = UInt8(ascii: "1")
        return unsafe write(file, &text, 1) == 1
    }
}
