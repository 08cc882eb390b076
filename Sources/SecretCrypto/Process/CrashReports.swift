import Glibc

/// Swift's crash handler prints registers and memory: it is off in every process that holds keys (contract, H1).
package enum CrashReports {
    private static let name = "SWIFT_BACKTRACE"
    /// What the runtime reads when a process starts.
    private static let value = "enable=no"

    /// Off in this process and all that it starts.
    ///
    /// The runtime looks only at its start, so a process that was started otherwise starts itself once more, as the
    /// same process and with the same arguments. Called before there is anything to lose. If that fails, it goes on.
    package static func disable() {
        if let setting = unsafe getenv(name), unsafe strcmp(setting, value) == 0 { return }
        unsafe setenv(name, value, 1)
        // By its own name, so that ps(1) shows it, unless that is gone.
        var path = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        if unsafe readlink("/proc/self/exe", &path, Int(PATH_MAX)) > 0 {
            _ = unsafe execv(path, CommandLine.unsafeArgv)
        }
        _ = unsafe execv("/proc/self/exe", CommandLine.unsafeArgv)
    }
}
