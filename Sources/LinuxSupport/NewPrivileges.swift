import CLinuxSupport
public import SystemPackage

/// What the programs that this process starts could gain: set-user-ID and file capabilities (execve(2)).
public enum NewPrivileges {
    /// Renounces them for all threads of this process, for good (`no_new_privs`, prctl(2); seccomp(2)).
    ///
    /// - Throws: What seccomp(2) returned, ENOSYS or EPERM where it is not permitted: then they are renounced for the calling thread alone.
    public static func renounce() throws(Errno) {
        let result = new_privileges_renounce()
        guard result == 0 else { throw Errno(rawValue: -result) }
    }
}
