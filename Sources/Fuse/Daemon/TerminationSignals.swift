import CFuse3
import Glibc
public import SystemPackage

/// The signals that ask a daemon to end, taken by one thread instead of a handler.
public enum TerminationSignals {
    /// SIGINT, SIGTERM, SIGHUP.
    public static let ending: [Int32] = [SIGINT, SIGTERM, SIGHUP]

    /// Blocks the ending signals in this thread and all that it starts later, and ignores SIGPIPE.
    ///
    /// Called first of all, while there is one thread.
    public static func block() {
        signal(SIGPIPE, SIG_IGN)
        var signals = set(ending)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Calls `body` with the number of each signal that comes, from a thread of its own, for the rest of the process.
    public static func onReceive(_ body: @escaping @Sendable (Int32) -> Void) throws(Errno) {
        _ = try WorkerThread {
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
