import CLinuxSupport
public import SystemPackage

/// The privileges that programs started by this process could gain: set-user-ID and file capabilities (execve(2)).
public enum NewPrivileges {
    /// Renounces them permanently for all threads of this process (`no_new_privs`, prctl(2); seccomp(2)).
    ///
    /// - Throws: The errno of seccomp(2), ENOSYS or EPERM if it is not permitted. They are renounced for the calling
    ///   thread alone then.
    public static func renounce() throws(Errno) {
        let result = new_privileges_renounce()
        guard result == 0 else { throw Errno(rawValue: -result) }
    }
}
