import Glibc

/// The file system `/proc` (proc(5)).
public enum ProcFileSystem {
    /// Whether it is mounted, and contains this process.
    public static var isMounted: Bool { unsafe access("/proc/self/mountinfo", R_OK) == 0 }
}
