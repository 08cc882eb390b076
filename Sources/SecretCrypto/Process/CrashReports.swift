import Glibc

/// Swift's crash handler prints registers and memory: it is off in every process that holds keys (contract, H1).
package enum CrashReports {
    /// What the runtime handles (CrashHandlerLinux.cpp).
    private static let signals = [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP]
    /// What the runtime reads when a process starts, and the value that turns it off.
    private static let setting = (name: "SWIFT_BACKTRACE", value: "enable=no")

    /// Off in this process and all that it starts.
    ///
    /// The runtime looks at its setting only when a process starts, and sets up its handlers then: those are taken away.
    package static func disable() {
        if let value = unsafe getenv(setting.name), unsafe strcmp(value, setting.value) == 0 { return }
        unsafe setenv(setting.name, setting.value, 1)
        for signal in signals where isHandled(signal) { _ = Glibc.signal(signal, SIG_DFL) }
    }

    /// Not one that is ignored: that came from whoever has started this process.
    private static func isHandled(_ signal: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(signal, nil, &action) == 0 else { return false }
        let handler = unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
        return handler != 0 && handler != 1
    }
}
