import SystemPackage

/// The threads of a session: one, the leader, receives; the others serve what may wait, or are parked.
///
/// Parked threads wait here and not in the device, so that a message always wakes the thread that ran last. A leader
/// that is about to serve a request that may wait passes the lead to a parked thread, or to a new one while there are
/// fewer than the limit; if all are busy, the next that is done leads. While others serve already, it keeps the lead, and a
/// parked thread serves the request: nothing that comes meanwhile has to wait until that one has woken up. So there come to be
/// as many threads as requests wait at once.
final class Workers: Sendable {
    /// What a parked thread is woken for.
    enum Task {
        case lead
        /// A message that another thread has received.
        case serve(MessageBuffers.Slot)
        case end
    }

    /// The most there can be.
    static let most = 64

    private struct State {
        var hasLeader = false
        var delegated: [MessageBuffers.Slot] = []
        var hasEnded = false
        var running = 0
        var parked = 0
        var threads: [WorkerThread] = []
        /// The last attempt to make one has failed, and the log says so.
        var lacksThreads = false
    }

    /// So many are parked for as long as the session lasts.
    private static let kept = 4
    /// For how long the others are, in milliseconds.
    private static let patience = 5000

    private let state = Monitor(State())
    private let limit: Int
    private let body: @Sendable (Workers) -> Void

    /// `body` is what each thread runs.
    init(limit: Int, body: @escaping @Sendable (Workers) -> Void) {
        self.limit = min(max(limit, 1), Self.most)
        self.body = body
    }

    /// Starts the first thread and returns when all have ended.
    func run() throws(Errno) {
        state.with { $0.running += 1 }
        try startThread()
        // Whoever starts a thread has not ended yet. Not a wait: `wakeOne` is for those who are parked, alone.
        while let thread = state.with({ $0.threads.popLast() }) { thread.join() }
    }

    /// Parks until there is something to do; the end when the session has ended, or enough others are parked for it.
    ///
    /// Calls `tidy` before it sleeps, and each time it is woken for nothing else.
    func park(tidying tidy: () -> Void) -> Task {
        let isSpare = state.with { state in
            state.parked += 1
            return state.parked > Self.kept
        }
        guard isSpare else {
            return state.wait { state in
                tidy()
                return Self.task(&state)
            }
        }
        let task = state.wait(milliseconds: Self.patience) { state in
            tidy()
            return Self.task(&state)
        }
        return task ?? endSpare()
    }

    /// Nil: there is nothing to do.
    private static func task(_ state: inout State) -> Task? {
        if !state.delegated.isEmpty {
            state.parked -= 1
            return .serve(state.delegated.removeFirst())
        }
        guard state.hasEnded || !state.hasLeader else { return nil }
        state.parked -= 1
        guard !state.hasEnded else { return .end }
        state.hasLeader = true
        return .lead
    }

    /// The calling thread ends, unless it is needed after all: it may be the one who was woken last.
    private func endSpare() -> Task {
        state.with { state in
            if let task = Self.task(&state) { return task }
            state.parked -= 1
            if let own = state.threads.firstIndex(where: \.isCurrent) { state.threads.remove(at: own).detach() }
            return .end
        }
    }

    /// Gives a message to another thread, if one is serving already and one more is parked for it or can be made; false if the
    /// leader had better serve it.
    func delegate(_ slot: MessageBuffers.Slot) -> Bool {
        let (isGiven, needsThread) = state.with { state in
            let idle = state.parked - state.delegated.count
            // The leader is one of those who run.
            guard state.running - state.parked > 1, idle > 0 || state.running < limit else { return (false, false) }
            state.delegated.append(slot)
            if idle <= 0 { state.running += 1 }
            return (true, idle <= 0)
        }
        guard isGiven else { return false }
        guard needsThread else {
            state.wakeOne()
            return true
        }
        return startOneMore() || !takeBack(slot)
    }

    /// What nobody has begun to serve.
    private func takeBack(_ slot: MessageBuffers.Slot) -> Bool {
        state.with { state in
            guard let index = state.delegated.lastIndex(of: slot) else { return false }
            state.delegated.remove(at: index)
            return true
        }
    }

    /// The leader is about to serve a request that may wait.
    func passLead() {
        let needsThread = state.with { state in
            state.hasLeader = false
            // Those who have been given a message are about to serve it.
            if state.parked > state.delegated.count || state.running >= limit { return false }
            state.running += 1
            return true
        }
        // Without one more the next that is done leads.
        if !needsThread { state.wakeOne() } else { _ = startOneMore() }
    }

    /// False where the system has no thread to give.
    private func startOneMore() -> Bool {
        do throws(Errno) {
            try startThread()
            state.with { $0.lacksThreads = false }
            return true
        } catch {
            let isKnown = state.with { state in
                defer { state.lacksThreads = true }
                return state.lacksThreads
            }
            if !isKnown { FuseLog.write(.warning, "no further thread: \(error)") }
            return false
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
