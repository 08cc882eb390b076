import SecretCrypto
import SystemPackage
import SystemServices

/// A task that runs at intervals, and on request, on its own thread until it is cancelled.
///
/// Not a Dispatch timer: that waits forever for a thread that the system does not provide.
struct Periodically {
    private struct State {
        var isCancelled = false
        var isRequested = false
        var hasEnded = false
    }

    private let state = Monitor(State())

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - seconds: The interval between two runs.
    ///   - body: The task.
    /// - Throws: EAGAIN if the system provides no thread.
    init(seconds: Double, _ body: @escaping @Sendable () -> Void) throws(Errno) {
        try BackgroundThread.start(stack: .large) { [state] in
            let pause = Int(seconds * 1000)
            while state.wait(milliseconds: pause, until: Self.wake) != .cancel { body() }
            state.withLockAndSignal { $0.hasEnded = true }
        }
    }

    private enum Wake { case run, cancel }

    /// Why the thread wakes before the interval has passed; nil if it does not.
    private static func wake(_ state: inout State) -> Wake? {
        if state.isCancelled { return .cancel }
        defer { state.isRequested = false }
        return state.isRequested ? .run : nil
    }

    /// Runs the task as soon as possible. Does not wait for it.
    func runSoon() {
        state.withLockAndSignal { $0.isRequested = true }
    }

    /// Returns when the task no longer runs.
    func cancel() {
        state.withLockAndSignal { $0.isCancelled = true }
        _ = state.wait(seconds: nil) { $0.hasEnded ? true : nil }
    }
}
