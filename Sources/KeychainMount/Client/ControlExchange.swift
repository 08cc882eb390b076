import Fuse
import SecretCrypto
import SystemPackage
import SystemServices

/// One question to a mount's daemon through a control file, which never waits for ever (contract, L4).
///
/// A helper process asks; this one waits for it. While the daemon works it answers questions for its status: a long command
/// is waited for as long as it does.
package struct ControlExchange: Sendable {
    /// The control file that is written to and read.
    package enum File: String, Sendable {
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

    /// The hidden command by which a helper knows itself.
    package static let command = "ask"
    /// In milliseconds: longer than this a daemon that can answer never takes to tell its status.
    private static let patience = 10_000

    let mountPoint: String
    let file: File
    /// Since its start no longer than this, whatever the daemon says of itself.
    let limit: Duration

    /// The daemon's answer to `message`.
    func ask(_ message: RawSpan) throws(Failed) -> [UInt8] {
        let start = Alarm.now
        var helper = try helper(message)
        while true {
            switch helper.wait(milliseconds: Self.patience) {
            case .answered(status: 0, let answer): return answer
            case .answered(let status, _) where status < 0: throw .atOpen(Errno(rawValue: -status))
            case .answered(let status, _): throw .refused(Errno(rawValue: status))
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

    private func helper(_ message: RawSpan) throws(Failed) -> HelperProcess {
        do throws(Errno) {
            return try HelperProcess(
                arguments: [Self.command, "--file", file.rawValue, "--", mountPoint], input: message)
        } catch {
            throw .noHelper(error)
        }
    }

    // MARK: In the helper

    /// What the process does that was started with ``command``: it may hang.
    package static func perform(_ file: File, at mountPoint: String) {
        HelperProcess.endWithParent()
        let control: FileDescriptor
        do {
            let path = FilePath(mountPoint).appending(".keychainfs").appending(file.rawValue)
            control = try FileDescriptor.open(path, file == .status ? .readOnly : .readWrite, options: .closeOnExec)
        } catch {
            return HelperProcess.answer(-((error as? Errno) ?? .ioError).rawValue, [])
        }
        do throws(CryptoError) {
            let answer = try Self.exchange(control.rawValue)
            try? control.close()
            HelperProcess.answer(0, answer)
        } catch {
            HelperProcess.answer(error.errno.rawValue, [])
        }
    }

    /// The command is one write, straight from locked memory.
    private static func exchange(_ control: Int32) throws(CryptoError) -> [UInt8] {
        let message = try SecretBytes.read(from: HelperProcess.inputDescriptor, limit: HelperProcess.limit)
        if message.count > 0 { try message.write(to: control) }
        let answer = try SecretBytes.read(from: control, limit: HelperProcess.limit - 4)
        return [UInt8](copying: answer.bytes)
    }
}

extension CryptoError {
    fileprivate var errno: Errno {
        switch self {
        case .io(let code): Errno(rawValue: code)
        case .outOfMemory, .outOfSecretMemory: .noMemory
        default: .ioError
        }
    }
}
