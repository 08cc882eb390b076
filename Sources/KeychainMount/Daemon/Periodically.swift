import SecretCrypto
import SystemPackage
import SystemServices

/// Does something every so many seconds, on a thread of its own, until it is cancelled.
///
/// No timer of Dispatch: that waits for ever for a thread that the system does not give.
struct Periodically {
    private struct State {
        var isCancelled = false
        var hasEnded = false
    }

    private let state = Monitor(State())

    /// Throws EAGAIN without a thread.
    init(seconds: Double, _ body: @escaping @Sendable () -> Void) throws(Errno) {
        try BackgroundThread.start(stack: .large) { [state] in
            let pause = Int(seconds * 1000)
            while state.wait(milliseconds: pause, until: { $0.isCancelled ? true : nil }) == nil { body() }
            state.withLockAndSignal { $0.hasEnded = true }
        }
    }

    /// Returns when nothing of it runs any more.
    func cancel() {
        state.withLockAndSignal { $0.isCancelled = true }
        _ = state.wait(seconds: nil) { $0.hasEnded ? true : nil }
    }
}
