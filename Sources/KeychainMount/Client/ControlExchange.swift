import SecretCrypto
import SystemPackage
import SystemServices

/// One question to a mount's daemon through a control file, which never waits for ever (contract, L4).
///
/// A child process asks; this one waits for it. While the daemon works it answers questions for its status: a long command
/// is waited for as long as it does.
struct ControlExchange {
    /// The control file that is asked: written to and read, but ``status`` read only.
    enum File: String {
        case status, control, lock
    }

    enum Failed: Error {
        /// It could not be opened.
        case atOpen(Errno)
        /// The daemon has refused.
        case refused(Errno)
        /// The daemon does not answer.
        case silent
        /// There is no process to ask.
        case noHelper(Errno)
    }

    /// In milliseconds: longer than this a daemon that can answer never takes to tell its status.
    private static let patience = 10_000

    let mountPoint: String
    let file: File
    /// Since its start no longer than this, whatever the daemon says of itself.
    let limit: Duration

    /// The daemon's answer to `message`, which nothing is sent of to ``File/status``.
    func ask(_ message: RawSpan) throws(Failed) -> [UInt8] {
        let start = Alarm.now
        var exchange = try exchange(message)
        while true {
            switch exchange.wait(milliseconds: Self.patience) {
            case .answered(let answer): return answer
            case .unopened(let errno): throw .atOpen(errno)
            case .refused(let errno): throw .refused(errno)
            case .died: throw .noHelper(.noChildProcess)
            case .silent: guard Alarm.now - start < limit, daemonAnswers else { throw .silent }
            }
        }
    }

    private var daemonAnswers: Bool {
        guard file != .status else { return false }
        let question = ControlExchange(mountPoint: mountPoint, file: .status, limit: .zero)
        return (try? question.ask([UInt8]().rawSpan)) != nil
    }

    private func exchange(_ message: RawSpan) throws(Failed) -> FileExchange {
        let path = FilePath(mountPoint).appending(".keychainfs").appending(file.rawValue)
        do throws(Errno) {
            return try FileExchange(path: path.string, message: file == .status ? nil : message)
        } catch {
            throw .noHelper(error)
        }
    }
}
