import Glibc
import Synchronization

/// Catches the signals that end or stop a program at its terminal, so that the terminal can be put right first.
///
/// A handler writes the signal's number into a pipe, whichever thread it runs on (signal-safety(7)). There is one
/// watch at a time: what a program asks a person, it asks one after the other.
struct SignalPipe: ~Copyable {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]
    /// Where the handler writes, or -1.
    private static let pipeEnd = Atomic<Int32>(-1)

    private let reading: Int32
    private let writing: Int32
    private let previous: [sigaction]

    /// `io`: EBUSY if there is a watch already, or the errno of pipe(2).
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

    /// Waits until `descriptor` can be read (nil) or a signal has come (its number).
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

    /// Sends `signal` to the process as if it had not been caught, and catches it again if the process lives on.
    borrowing func deliver(_ signal: Int32) {
        guard let index = Self.signals.firstIndex(of: signal) else { return }
        var old = previous[index]
        var watching = sigaction()
        unsafe _ = sigaction(signal, &old, &watching)
        // To this thread, which may block it as Dispatch's do: its work is done, or the stop over, when raise returns.
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

    /// Installs the handler unless the signal is ignored (nohup); returns what was there.
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
    /// SIG_IGN, which is the address 1.
    fileprivate var isIgnored: Bool { unsafe unsafeBitCast(self, to: Int.self) == 1 }
}
