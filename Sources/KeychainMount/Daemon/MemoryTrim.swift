import Fuse
import SecretCrypto
import SystemPackage
import SystemServices

/// Returns freed memory to the system (malloc_trim(3)) on its own thread, when requests for it cease.
///
/// It takes milliseconds, and the requests that follow fault code back in: no file system request may wait for it.
final class MemoryTrim: Sendable {
    private struct State {
        var requests = 0
        var isCancelled = false
        var hasEnded = true
    }

    /// The time without a request after which memory is returned, in milliseconds, and the maximum number of extensions by requests.
    private static let quiet = 1000
    private static let extensions = 60

    private let state = Monitor(State())
    private let trim: @Sendable () -> Void

    init(trim: @escaping @Sendable () -> Void = { ProcessMemory.giveBack() }) { self.trim = trim }

    /// Starts the thread. Throws EAGAIN if the system provides none.
    func start() throws(Errno) {
        state.withLock { $0.hasEnded = false }
        do throws(Errno) {
            try BackgroundThread.start(stack: .large) { [self] in
                while waitForRequest() { trim() }
                state.withLockAndSignal { $0.hasEnded = true }
            }
        } catch {
            state.withLock { $0.hasEnded = true }
            throw error
        }
    }

    /// Returns memory soon. Does not wait for it.
    func request() { state.withLockAndSignal { $0.requests += 1 } }

    /// Ends the thread, and returns when it has ended.
    func cancel() {
        state.withLockAndSignal { $0.isCancelled = true }
        _ = state.wait(seconds: nil) { $0.hasEnded ? true : nil }
    }

    /// Blocks until memory must be returned; false at the end.
    private func waitForRequest() -> Bool {
        _ = state.wait(seconds: nil) { $0.requests > 0 || $0.isCancelled ? true : nil }
        for _ in 0..<Self.extensions {
            let known = state.withLock { $0.requests }
            let end = state.wait(milliseconds: Self.quiet) { $0.isCancelled ? true : nil }
            if end != nil { return false }
            if state.withLock({ $0.requests == known }) { break }
        }
        return state.withLock { state in
            state.requests = 0
            return !state.isCancelled
        }
    }
}
