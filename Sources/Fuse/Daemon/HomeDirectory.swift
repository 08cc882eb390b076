import CFuse3
import Glibc

/// The home directory of a process that mount(8) has started.
public enum HomeDirectory {
    /// Sets `HOME` to what passwd(5) says if what it names is not this user's, and forgets the XDG directories then.
    ///
    /// mount.fuse with `setuid=` leaves root's there, sudo(8) the caller's, systemd none. To be called before there are
    /// threads.
    public static func correct() {
        var status = stat()
        if let home = unsafe getenv("HOME"), unsafe stat(home, &status) == 0, status.st_uid == geteuid() { return }
        guard let user = unsafe getpwuid(geteuid()), let home = unsafe user.pointee.pw_dir else { return }
        unsafe setenv("HOME", home, 1)
        for name in ["XDG_DATA_HOME", "XDG_STATE_HOME"] { unsafe unsetenv(name) }
    }
}
