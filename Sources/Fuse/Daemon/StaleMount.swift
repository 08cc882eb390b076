import CFuse3
import Glibc
import LinuxSupport

/// A mount whose daemon is dead: "Transport endpoint is not connected".
public enum StaleMount {
    /// Whether the mount at `path` is of `type` (`fuse.` and the subtype) and dead.
    ///
    /// Asks the kernel with statfs(2): of a live mount its daemon gets the question, so never ask for one's own.
    public static func exists(at path: String, type: String) -> Bool {
        guard let mount = (try? MountTable.current())?.mount(at: path), mount.type == type else { return false }
        var status = statfs()
        return unsafe statfs(path, &status) != 0 && errno == ENOTCONN
    }

    /// Unmounts all such mounts at `path` lazily; returns whether there was one.
    ///
    /// A live mount, and one of another type, stays as it is.
    @discardableResult
    public static func clean(at path: String, type: String) throws(FuseError) -> Bool {
        var found = false
        // One may lie over another; a bound keeps this from running for ever if an unmount has no effect.
        for _ in 0..<16 {
            guard exists(at: path, type: type) else { break }
            try Mount.unmount(path, lazily: true)
            found = true
        }
        return found
    }
}
