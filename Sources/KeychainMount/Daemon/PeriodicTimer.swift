import LinuxSupport
import SecretCrypto
import SystemPackage

/// A task that runs at intervals, and on request, on its own thread until it is cancelled.
///
/// Not a Dispatch timer, which waits forever for a thread that the system cannot create.
struct PeriodicTimer {
    private struct State {
        var isCancelled = false
        var isRequested = false
        var hasEnded = false
    }

    private let state = Monitor(State())

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - seconds: The interval between two runs; nil if the task runs on request only.
    ///   - delay: The time in seconds from a request to its run, which serves all requests until then.
    ///   - body: The task.
    /// - Throws: EAGAIN if the system cannot create a thread.
    init(seconds: Double?, delay: Double = 0, _ body: @escaping @Sendable () -> Void) throws(Errno) {
        try BackgroundThread.start(stack: .large) { [state] in
            while Self.waitForRun(state, seconds, delay) { body() }
            state.withLockAndSignal { $0.hasEnded = true }
        }
    }

    /// Waits for the next run. Returns false at the end.
    private static func waitForRun(_ state: Monitor<State>, _ seconds: Double?, _ delay: Double) -> Bool {
        let interval = seconds.map { Int($0 * 1000) }
        let isRequested: Void? = state.wait(milliseconds: interval) { $0.isCancelled || $0.isRequested ? () : nil }
        if isRequested != nil, delay > 0 {
            _ = state.wait(milliseconds: Int(delay * 1000)) { $0.isCancelled ? () : nil }
        }
        return state.withLock { state in
            state.isRequested = false
            return !state.isCancelled
        }
    }

    /// Requests a run after the delay, without waiting for it.
    func runSoon() {
        state.withLockAndSignal { $0.isRequested = true }
    }

    /// Cancels the task. Returns when it no longer runs.
    func cancel() {
        state.withLockAndSignal { $0.isCancelled = true }
        _ = state.wait(seconds: nil) { $0.hasEnded ? true : nil }
    }
}
