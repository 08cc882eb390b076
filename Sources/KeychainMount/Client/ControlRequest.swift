import KeychainConnection
import LinuxSupport
import SecretCrypto
import SystemPackage

/// A request to a mount's daemon through a control file, which always ends (contract, L4).
///
/// A child process makes the request, and this process waits for it. While the daemon works, it answers requests for
/// its status: this process waits for a long command while the daemon responds.
struct ControlRequest {
    /// The control file. ``status`` is only read; others are written to and read.
    enum File: String {
        case status, control, lock
    }

    enum Failure: Error {
        /// The file could not be opened.
        case atOpen(Errno)
        /// The file does not belong to a mount to which the message may be written. Nothing was sent.
        case untrusted(MountRequirement.Violation)
        /// The daemon has refused the request.
        case refused(Errno)
        /// The daemon does not respond.
        case silent
        /// The child process could not be created.
        case noHelper(Errno)

        /// Whether the daemon has ended, before the request or during it.
        var meansEndOfDaemon: Bool {
            switch self {
            case .atOpen(let errno), .refused(let errno):
                [.socketNotConnected, .connectionAbort, .operationNotSupportedByDevice].contains(errno)
            case .untrusted, .silent, .noHelper: false
            }
        }
    }

    /// The maximum time in milliseconds that a working daemon takes to report its status.
    private static let timeout = 10_000

    let mountPoint: String
    let file: File
    /// The requirement for the mount to which the message is written.
    var requirement = MountOwner.anyone.requirement
    /// The time limit since the start, regardless of the daemon's status.
    let limit: Duration

    /// Sends `message` and returns the daemon's response. ``File/status`` takes no message.
    func ask(_ message: RawSpan) throws(Failure) -> [UInt8] {
        let exchange = try exchange { () throws(Errno) in
            try ChildFileRequest(
                directory: mountPoint, name: ".keychainfs/" + file.rawValue, isWritten: file != .status)
        }
        return try response(of: exchange, to: file == .status ? RawSpan() : message)
    }

    /// Sends an order, which the daemon receives even if this process ends before, and returns its response.
    ///
    /// - Parameter order: It contains no secret.
    func order(_ order: [UInt8]) throws(Failure) -> [UInt8] {
        // Before the file is open, because the child must not wait for this process. Nothing is mounted at a path without one.
        guard let mount = MountIdentity(at: mountPoint) else { return try ask(order.rawSpan) }
        try check(mount)
        let exchange = try exchange { () throws(Errno) in
            try ChildFileRequest(
                directory: mountPoint, name: ".keychainfs/" + file.rawValue, order: order, in: mount)
        }
        return try response(of: exchange, to: nil)
    }

    /// - Parameter message: Nil for an order.
    private func response(of started: consuming ChildFileRequest, to message: RawSpan?) throws(Failure) -> [UInt8] {
        let start = WakeupTimer.now
        var exchange = started
        while true {
            switch exchange.wait(milliseconds: Self.timeout) {
            case .opened(let mount):
                try check(mount)
                if let message { exchange.send(message) }
            case .answered(let result): return result
            case .unopened(let errno): throw .atOpen(errno)
            case .refused(let errno): throw .refused(errno)
            case .died: throw .noHelper(.noChildProcess)
            case .silent: guard WakeupTimer.now - start < limit, daemonAnswers else { throw .silent }
            }
        }
    }

    /// The child has the file open, so no other mount can get its number.
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

    private func exchange(
        _ start: () throws(Errno) -> ChildFileRequest
    ) throws(Failure) -> ChildFileRequest {
        do throws(Errno) {
            return try start()
        } catch {
            throw .noHelper(error)
        }
    }
}
