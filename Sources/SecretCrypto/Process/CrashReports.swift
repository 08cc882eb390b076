import Glibc

/// Disables Swift's crash handler, which prints registers and memory, in every process that uses keys (contract, H1).
package enum CrashReports {
    /// The signals that the runtime handles (CrashHandlerLinux.cpp).
    private static let signals = [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP]
    /// The environment variable that the runtime reads at the start of a process, and the value that disables the
    /// handler.
    private static let setting = (name: "SWIFT_BACKTRACE", value: "enable=no")

    /// Disables the handler in this process.
    ///
    /// The runtime installs its handlers at the start of a process, so the present handlers are removed.
    ///
    /// - Parameter alsoInChildren: Whether the handler is disabled in child processes, too, by a variable of the environment.
    package static func disable(alsoInChildren: Bool = true) {
        if let value = unsafe getenv(setting.name), unsafe strcmp(value, setting.value) == 0 { return }
        if alsoInChildren { unsafe setenv(setting.name, setting.value, 1) }
        for signal in signals where isHandled(signal) { _ = Glibc.signal(signal, SIG_DFL) }
    }

    /// Whether the signal has a handler. An ignored signal was inherited from the parent process and stays ignored.
    private static func isHandled(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(signal, nil, &action) == 0 else { return false }
        let handler = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        return handler != 0 && handler != 1
    }
}
