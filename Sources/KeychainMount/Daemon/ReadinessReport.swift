import Fuse
import Synchronization

/// Reports to the parent process once whether the start has succeeded or failed.
final class ReadinessReport: Sendable {
    private let report: Mutex<ReadinessPipe?>

    init(_ report: consuming ReadinessPipe) {
        self.report = Mutex(report)
    }

    /// Reports success. Returns false if the parent process no longer waits, so that the mount is not wanted.
    func ready() -> Bool {
        take()?.ready() ?? true
    }

    /// Reports a failure. Has no effect after ``ready()``.
    func failed(_ failure: CLIError) {
        take()?.failed(exitCode: failure.exitCode.rawValue, message: failure.message)
    }

    private func take() -> ReadinessPipe? {
        report.withLock { $0.take() }
    }
}
