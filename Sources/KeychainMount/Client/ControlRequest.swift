import KeychainConnection
import LinuxSupport
import SecretCrypto
import SystemPackage

/// One question to a mount's daemon through a control file, which always ends (contract, L4).
///
/// A child process asks; this one waits for it. While the daemon works it answers questions for its status: a long command
/// is waited for as long as it does.
struct ControlRequest {
    /// The control file that is asked: written to and read, but ``status`` read only.
    enum File: String {
        case status, control, lock
    }

    enum Failure: Error {
        /// It could not be opened.
        case atOpen(Errno)
        /// The file does not belong to a mount that the message may be written to: nothing was sent.
        case untrusted(MountRequirement.Violation)
        /// The daemon has refused.
        case refused(Errno)
        /// The daemon does not answer.
        case silent
        /// There is no process to ask.
        case noHelper(Errno)
    }

    /// In milliseconds: longer than this a daemon that can answer never takes to tell its status.
    private static let timeout = 10_000

    let mountPoint: String
    let file: File
    /// The mount that the message may be written to.
    var requirement = MountOwner.anyone.requirement
    /// Since its start no longer than this, whatever the daemon says of itself.
    let limit: Duration

    /// The daemon's answer to `message`; ``File/status`` gets none of it.
    func ask(_ message: RawSpan) throws(Failure) -> [UInt8] {
        let start = WakeupTimer.now
        var exchange = try exchange()
        while true {
            switch exchange.wait(milliseconds: Self.timeout) {
            case .opened(let mount):
                try check(mount)
                exchange.send(file == .status ? RawSpan() : message)
            case .answered(let result): return result
            case .unopened(let errno): throw .atOpen(errno)
            case .refused(let errno): throw .refused(errno)
            case .died: throw .noHelper(.noChildProcess)
            case .silent: guard WakeupTimer.now - start < limit, daemonAnswers else { throw .silent }
            }
        }
    }

    /// The child has the file open: no other mount can get its number.
    private func check(_ mount: MountIdentity) throws(Failure) {
        do throws(MountRequirement.Violation) {
            try requirement.check(mount)
        } catch {
            throw .untrusted(error)
        }
    }

    private var daemonAnswers: Bool {
        guard file != .status else { return false }
        let question = ControlRequest(mountPoint: mountPoint, file: .status, limit: .zero)
        return (try? question.ask([UInt8]().rawSpan)) != nil
    }

    private func exchange() throws(Failure) -> ChildFileRequest {
        do throws(Errno) {
            return try ChildFileRequest(
                directory: mountPoint, name: ".keychainfs/" + file.rawValue, isWritten: file != .status)
        } catch {
            throw .noHelper(error)
        }
    }
}
