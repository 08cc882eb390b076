import CLinuxSupport
import Glibc

/// The type of a file system (statfs(2), <linux/magic.h>).
public enum FileSystemType {
    /// NFS, SMB, SMB2, CIFS, FUSE, Ceph, 9P, AFS, Coda, Lustre, VirtualBox.
    private static let remote: Set<Int> = [
        0x6969, 0x517B, 0xFE53_4D42, 0xFF53_4D42, 0x6573_5546, 0x00C3_6400, 0x0102_1997, 0x5346_414F, 0x7375_7245,
        0x0BD0_0BD0, 0x786F_4256,
    ]

    /// Whether a remote machine or a process assigns the times of files. True if statfs(2) fails.
    public static func isRemote(_ path: String) -> Bool {
        var status = statfs()
        guard unsafe statfs(path, &status) == 0 else { return true }
        return remote.contains(Int(status.f_type) & 0xFFFF_FFFF)
    }

    /// tmpfs, ramfs.
    private static let inMemory: Set<Int> = [0x0102_1994, 0x8584_58F6]

    /// Whether the files are in memory only, or in swap space. False if statfs(2) fails.
    public static func isInMemory(_ path: String) -> Bool {
        var status = statfs()
        return unsafe statfs(path, &status) == 0 && inMemory.contains(Int(status.f_type) & 0xFFFF_FFFF)
    }
}
