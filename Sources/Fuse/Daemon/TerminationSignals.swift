import CFuse3
import Glibc
import LinuxSupport
public import SystemPackage

/// The signals that request a daemon to exit, received by one thread instead of a handler.
public enum TerminationSignals {
    /// SIGINT, SIGTERM, SIGHUP.
    public static let ending: [Int32] = [SIGINT, SIGTERM, SIGHUP]

    /// Blocks the signals in this thread and in all threads that it creates later, and ignores SIGPIPE.
    ///
    /// Must be called while the process has one thread.
    public static func block() {
        signal(SIGPIPE, SIG_IGN)
        var signals = set(ending)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Calls `body` with the number of each signal, on a separate thread, until the process exits.
    public static func onReceive(_ body: @escaping @Sendable (Int32) -> Void) throws(Errno) {
        try BackgroundThread.start(stack: .large) {
            var signals = set(ending)
            var number: Int32 = 0
            while unsafe sigwait(&signals, &number) == 0 { body(number) }
        }
    }

    private static func set(_ numbers: [Int32]) -> sigset_t {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for number in numbers { unsafe sigaddset(&signals, number) }
        return signals
    }
}
