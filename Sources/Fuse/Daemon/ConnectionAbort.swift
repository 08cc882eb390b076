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
        if run(number: entry.deviceMinor, ifStill: { true }) { return true }
        guard geteuid() == 0 else { return false }
        return unsafe umount2(entry.path, Int32(MNT_FORCE) | cfuse3_umount_detach) == 0
    }

    /// Aborts a connection without a mount that this process sees, through fusectl (the kernel's
    /// Documentation/filesystems/fuse).
    ///
    /// - Parameter isConnected: Whether the connection that has this number exists. The kernel reuses the numbers, but
    ///   the open file belongs to one connection.
    /// - Returns: Whether that was possible.
    static func run(number: Int, ifStill isConnected: () -> Bool) -> Bool {
        let file = unsafe Glibc.open("/sys/fs/fuse/connections/\(number)/abort", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var text = UInt8(ascii: "1")
        guard isConnected() else { return false }
        return unsafe write(file, &text, 1) == 1
    }
}
