import CFuse3
import Glibc
import LinuxSupport
public import SystemPackage

/// The result of starting a daemon in the background.
public enum LaunchResult: Hashable, Sendable {
    /// The daemon works and has this process ID.
    case ready(processID: Int32)
    /// The daemon has failed and reported the reason.
    case failed(exitCode: Int32, message: String)
    /// The daemon has ended without a report. Contains its exit status, or 128 plus the number of the signal that
    /// killed it.
    case died(status: Int32)
}

/// Starts a daemon with posix_spawn(3), because a process with threads and locked memory cannot fork.
public enum DaemonLauncher {
    /// The descriptor through which the daemon requests the secret of ``start(arguments:secret:)``
    /// (``requestSecret()``) and reads it to the end.
    public static let secretDescriptor: Int32 = 3
    /// The descriptor through which the daemon reports its start (``ReadinessPipe``).
    public static let reportDescriptor: Int32 = 4
    /// The maximum size of a secret in bytes.
    public static let maximumSecret = 65_536

    /// Starts this program (`/proc/self/exe`) with `arguments` in a new session, and waits for its report.
    ///
    /// The daemon receives the secret, unless it is empty, when it requests it. The caller must wipe its own copy.
    /// Standard input is /dev/null; standard error stays open until the report, so that early errors are visible.
    ///
    /// - Throws: EMSGSIZE for a secret that is too long; the errno of the start.
    public static func start(arguments: [String], secret: RawSpan) throws(Errno) -> LaunchResult {
        try start(ChildProcess.ownProgram, arguments: arguments, secret: secret)
    }

    static func start(
        _ executable: String, arguments: [String], secret: RawSpan
    ) throws(Errno) -> LaunchResult {
        guard secret.byteCount <= maximumSecret else { throw Errno(rawValue: EMSGSIZE) }
        var secretSocket = try SocketPair()
        var reportPipe = try Pipe()
        let child = try ChildProcess(
            .init(
                executable: executable, arguments: arguments,
                descriptors: [
                    1: 1, 2: 2, secretDescriptor: secretSocket.second, reportDescriptor: reportPipe.writeEnd,
                ], hasOwnSession: true))
        secretSocket.closeSecond()
        reportPipe.closeWriteEnd()
        if !secret.isEmpty { sendOnRequest(secret, secretSocket.first) }
        secretSocket.closeFirst()
        return report(from: child, readAll(reportPipe.readEnd))
    }

    /// Requests the secret at ``secretDescriptor``. Called in the daemon when no other process can read its memory any
    /// more.
    ///
    /// Before its hardening, any process of the same user can open the daemon's `/proc/PID/fd`: it would get its own
    /// descriptor of a pipe and could read the secret later. A socket cannot be opened there (ENXIO).
    public static func requestSecret() throws(Errno) {
        var byte = request
        let count = unsafe send(secretDescriptor, &byte, 1, Int32(MSG_NOSIGNAL))
        guard count == 1 else { throw Errno(rawValue: errno) }
    }

    /// The byte that represents a request.
    private static let request: UInt8 = 1

    /// Errors are ignored: a daemon that exits, or stops reading, reports the reason.
    private static func sendOnRequest(_ secret: RawSpan, _ socket: Int32) {
        guard readAll(socket, limit: 1) == [request] else { return }
        StreamSocket.send(secret, to: socket)
    }

    private static func report(from child: ChildProcess, _ bytes: [UInt8]) -> LaunchResult {
        guard bytes.count >= 4 else { return .died(status: child.wait()) }
        let code = bytes[..<4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        if code == 0 { return .ready(processID: child.identifier) }
        child.wait()
        return .failed(
            exitCode: Int32(bitPattern: code), message: String(decoding: bytes.dropFirst(4), as: UTF8.self))
    }
}

/// The daemon's end of ``DaemonLauncher``: reports once whether the start has succeeded.
public struct ReadinessPipe: ~Copyable, Sendable {
    private let descriptor: Int32

    /// Takes ownership of `descriptor`.
    public init(descriptor: Int32 = DaemonLauncher.reportDescriptor) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit { close(descriptor) }

    /// Reports success and redirects standard output and error to /dev/null.
    ///
    /// - Returns: Whether the process that has started the daemon still exists.
    public consuming func ready() -> Bool {
        let isReceived = send(0, "")
        let null = unsafe Glibc.open("/dev/null", O_RDWR | O_CLOEXEC)
        guard null >= 0 else { return isReceived }
        dup2(null, 1)
        dup2(null, 2)
        close(null)
        return isReceived
    }

    /// Reports that the start has failed and the process will exit with `exitCode`, which is not 0.
    public consuming func failed(exitCode: Int32, message: String) {
        _ = send(exitCode == 0 ? 1 : exitCode, message)
    }

    /// Sends a report. SIGPIPE is ignored; returns false if the other end is closed.
    private func send(_ code: Int32, _ message: String) -> Bool {
        let number = UInt32(bitPattern: code)
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } + Array(message.utf8.prefix(4000))
        return unsafe write(descriptor, bytes, bytes.count) == bytes.count
    }
}
