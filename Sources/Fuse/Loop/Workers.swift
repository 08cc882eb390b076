import SystemPackage

/// The threads of a session: one, the leader, receives; the others serve what may wait, or are parked.
///
/// Parked threads wait here and not in the device, so that a message always wakes the thread that ran last. A leader
/// that is about to serve a request that may wait passes the lead to a parked thread, or to a new one while there are
/// fewer than the limit; if all are busy, the next that is done leads.
final class Workers: Sendable {
    private struct State {
        var hasLeader = false
        var hasEnded = false
        var running = 0
        var parked = 0
        var threads: [WorkerThread] = []
    }

    private let state = Monitor(State())
    private let limit: Int
    private let body: @Sendable (Workers) -> Void

    /// `body` is what each thread runs.
    init(limit: Int, body: @escaping @Sendable (Workers) -> Void) {
        self.limit = min(max(limit, 1), 4)
        self.body = body
    }

    /// Starts the first thread and returns when all have ended.
    func run() throws(Errno) {
        state.with { $0.running += 1 }
        try startThread()
        // Whoever starts a thread has not ended yet. Not a wait: `wakeOne` is for those who are parked, alone.
        while let thread = state.with({ $0.threads.popLast() }) { thread.join() }
    }

    /// Parks until the lead is free, and takes it; false when the session has ended.
    ///
    /// Calls `tidy` before it sleeps, and each time it is woken for nothing else.
    func takeLead(tidying tidy: () -> Void) -> Bool {
        state.with { $0.parked += 1 }
        return state.wait { state in
            tidy()
            guard state.hasEnded || !state.hasLeader else { return nil }
            state.parked -= 1
            state.hasLeader = state.hasLeader || !state.hasEnded
            return !state.hasEnded
        }
    }

    /// The leader is about to serve a request that may wait.
    func passLead() {
        let needsThread = state.with { state in
            state.hasLeader = false
            if state.parked > 0 || state.running >= limit { return false }
            state.running += 1
            return true
        }
        guard needsThread else { return state.wakeOne() }
        do throws(Errno) {
            try startThread()
        } catch {
            // The next that is done leads.
            FuseLog.write(.warning, "no further thread: \(error)")
        }
    }

    /// Wakes all who are parked, to tidy up.
    func wakeParked() {
        state.with(wakesAll: true) { _ in }
    }

    /// The connection is gone: everyone ends.
    func end() {
        state.with(wakesAll: true) { $0.hasEnded = true }
    }

    /// A thread could not begin its work: without another one nobody would ever receive.
    func endIfAlone() {
        let isAlone = state.with { $0.running == 1 }
        if isAlone { end() }
    }

    private func startThread() throws(Errno) {
        do throws(Errno) {
            let thread = try WorkerThread { [self] in
                body(self)
                state.with { $0.running -= 1 }
            }
            state.with { $0.threads.append(thread) }
        } catch {
            state.with { $0.running -= 1 }
            throw error
        }
    }
}
