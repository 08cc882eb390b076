import CFuse3
import Glibc
import LinuxSupport

/// A mount whose daemon has died: "Transport endpoint is not connected".
public enum StaleMount {
    /// Whether the mount at `path` has `type` (`fuse.` and the subtype) and its daemon has died.
    ///
    /// Calls statfs(2), which is a request to the daemon if it lives: a daemon must not call this for its own mount.
    public static func exists(at path: String, type: String) -> Bool {
        guard let mount = (try? MountTable.current())?.mount(at: path), mount.type == type else { return false }
        var status = statfs()
        return unsafe statfs(path, &status) != 0 && errno == ENOTCONN
    }

    /// Unmounts all such mounts at `path` lazily. Mounts of live daemons and of other types stay.
    ///
    /// - Returns: Whether a mount was found.
    @discardableResult
    public static func clean(at path: String, type: String) throws(FuseError) -> Bool {
        var found = false
        // Mounts may be stacked. The bound prevents an endless loop if an unmount has no effect.
        for _ in 0..<16 {
            guard exists(at: path, type: type) else { break }
            try Mount.unmount(path, lazily: true)
            found = true
        }
        return found
    }
}
