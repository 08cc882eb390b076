import CFuse3
import Glibc

/// The home directory of a process that was started by mount(8).
public enum HomeDirectory {
    /// Sets `HOME` from passwd(5), and removes the XDG variables, if the present directory does not belong to this
    /// user.
    ///
    /// mount.fuse with `setuid=` inherits that of root, sudo(8) that of the caller, systemd none. Must be called before
    /// other threads exist.
    public static func correct() {
        var status = stat()
        if let home = unsafe getenv("HOME"), unsafe stat(home, &status) == 0, status.st_uid == geteuid() { return }
        guard let user = unsafe getpwuid(geteuid()), let home = unsafe user.pointee.pw_dir else { return }
        unsafe setenv("HOME", home, 1)
        for name in ["XDG_DATA_HOME", "XDG_STATE_HOME"] { unsafe unsetenv(name) }
    }
}
