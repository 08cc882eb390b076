import Glibc
import Synchronization

/// Catches the signals that end or stop a program at its terminal, so that the terminal's settings can be restored
/// first.
///
/// The handler writes the signal's number into a pipe, on any thread (signal-safety(7)). Only one instance exists at a
/// time: a program prompts the user sequentially.
struct SignalPipe: ~Copyable {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]
    /// The descriptor to which the handler writes, or -1.
    private static let pipeEnd = Atomic<Int32>(-1)

    private let reading: Int32
    private let writing: Int32
    private let previous: [sigaction]

    /// Installs the handlers.
    ///
    /// - Throws: `io` with EBUSY if another instance exists, or with the errno of pipe(2).
    init() throws(PassphraseError) {
        let ends = try Self.claimPipe()
        (reading, writing) = (ends[0], ends[1])
        previous = Self.signals.map { Self.replaceAction(of: $0) }
    }

    private static func claimPipe() throws(PassphraseError) -> [Int32] {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .crypto(.io(errno)) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        let claim = pipeEnd.compareExchange(expected: -1, desired: ends[1], ordering: .sequentiallyConsistent)
        if claim.exchanged { return ends }
        for end in ends { close(end) }
        throw .crypto(.io(EBUSY))
    }

    deinit {
        for (signal, action) in zip(Self.signals, previous) {
            var action = action
            unsafe _ = sigaction(signal, &action, nil)
        }
        Self.pipeEnd.store(-1, ordering: .sequentiallyConsistent)
        close(reading)
        close(writing)
    }

    /// Blocks until `descriptor` is readable or a signal arrives.
    ///
    /// - Returns: nil if it is readable; otherwise the signal's number.
    borrowing func wait(for descriptor: Int32) -> Int32? {
        while true {
            if let signal = next() { return signal }
            var polls = [
                pollfd(fd: reading, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            ]
            let ready = unsafe poll(&polls, 2, -1)
            if ready > 0, polls[0].revents == 0 { return nil }
        }
    }

    /// Raises `signal` with its original action, and catches it again if the process continues.
    borrowing func deliver(_ signal: Int32) {
        guard let index = Self.signals.firstIndex(of: signal) else { return }
        var old = previous[index]
        var watching = sigaction()
        unsafe _ = sigaction(signal, &old, &watching)
        // Sent to this thread, which may block the signal, as Dispatch's threads do. When raise(3) returns, the signal
        // has taken effect, or the stop is over.
        var only = sigset_t()
        var mask = sigset_t()
        unsafe sigemptyset(&only)
        unsafe sigaddset(&only, signal)
        unsafe pthread_sigmask(SIG_UNBLOCK, &only, &mask)
        _ = raise(signal)
        unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
        unsafe _ = sigaction(signal, &watching, nil)
    }

    private borrowing func next() -> Int32? {
        var number: UInt8 = 0
        return unsafe read(reading, &number, 1) == 1 ? Int32(number) : nil
    }

    /// Installs the handler unless the signal is ignored (nohup(1)). Returns the previous action.
    private static func replaceAction(of signal: Int32) -> sigaction {
        var old = sigaction()
        unsafe _ = sigaction(signal, nil, &old)
        if unsafe old.__sigaction_handler.sa_handler.isIgnored { return old }
        var new = sigaction()
        unsafe new.__sigaction_handler.sa_handler = { signal in
            let saved = errno
            var number = UInt8(truncatingIfNeeded: signal)
            let end = SignalPipe.pipeEnd.load(ordering: .sequentiallyConsistent)
            if end >= 0 { unsafe _ = write(end, &number, 1) }
            errno = saved
        }
        unsafe _ = sigaction(signal, &new, nil)
        return old
    }
}

extension Optional where Wrapped == __sighandler_t {
    /// Whether the action is SIG_IGN, which is the address 1.
    fileprivate var isIgnored: Bool { unsafe unsafeBitCast(self, to: Int.self) == 1 }
}
