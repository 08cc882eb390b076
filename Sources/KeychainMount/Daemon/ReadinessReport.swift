import Fuse
import Synchronization

/// Tells the process that started this one how it went: ready or failed, once.
final class ReadinessReport: Sendable {
    private let report: Mutex<ReadinessPipe?>

    init(_ report: consuming ReadinessPipe) {
        self.report = Mutex(report)
    }

    /// False if nobody waits for it any more: what was asked for is not wanted.
    func ready() -> Bool {
        take()?.ready() ?? true
    }

    /// After ``ready()`` nobody listens any more.
    func failed(_ failure: CLIError) {
        take()?.failed(exitCode: failure.exitCode.rawValue, message: failure.message)
    }

    private func take() -> ReadinessPipe? {
        report.withLock { $0.take() }
    }
}
