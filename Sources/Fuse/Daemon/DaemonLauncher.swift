import CFuse3
import Glibc
import LinuxSupport
public import SystemPackage

/// What became of a daemon that was started in the background.
public enum LaunchResult: Hashable, Sendable {
    /// It does its work; its process id.
    case ready(processID: Int32)
    /// It could not, and has told why.
    case failed(exitCode: Int32, message: String)
    /// It ended without a word: its exit status, or 128 and the number of the signal that killed it.
    case died(status: Int32)
}

/// Starts a daemon as a process of its own, instead of forking one that has threads and locked memory.
public enum DaemonLauncher {
    /// Where the daemon requests what ``start(arguments:secret:)`` was given (``requestSecret()``), and reads it up to the end.
    public static let secretDescriptor: Int32 = 3
    /// Where the daemon tells how it went (``ReadinessPipe``).
    public static let reportDescriptor: Int32 = 4
    /// In bytes.
    public static let maximumSecret = 65_536

    /// Starts this same program (`/proc/self/exe`) with `arguments` in a session of its own, and waits for its report.
    ///
    /// The daemon gets the secret, unless it is empty, when it requests it; the caller still has to wipe it on its side. Standard
    /// input is /dev/null; standard error stays until the report, so that what goes wrong early is seen. Throws EMSGSIZE for a
    /// long secret.
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

    /// In the daemon, once no other process can look into it: the secret is sent to ``secretDescriptor``, and not before.
    ///
    /// Between its exec and its hardening any process of the same user can open what `/proc/PID/fd` shows of it: of a pipe it would
    /// get a descriptor of its own, and read the secret whenever that comes. A socket cannot be opened there (ENXIO).
    public static func requestSecret() throws(Errno) {
        var byte = request
        let count = unsafe send(secretDescriptor, &byte, 1, Int32(MSG_NOSIGNAL))
        guard count == 1 else { throw Errno(rawValue: errno) }
    }

    /// The one byte of a request.
    private static let request: UInt8 = 1

    /// A daemon that ends, or reads no further, says why in its report.
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

/// The daemon's side of ``DaemonLauncher``: says once how the start went.
public struct ReadinessPipe: ~Copyable, Sendable {
    private let descriptor: Int32

    /// `descriptor` is ``DaemonLauncher/reportDescriptor``, which this closes.
    public init(descriptor: Int32 = DaemonLauncher.reportDescriptor) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit { close(descriptor) }

    /// The work goes on; standard output and error are /dev/null from now on. False if whoever has started it is gone.
    public consuming func ready() -> Bool {
        let isReceived = send(0, "")
        let null = unsafe Glibc.open("/dev/null", O_RDWR | O_CLOEXEC)
        guard null >= 0 else { return isReceived }
        dup2(null, 1)
        dup2(null, 2)
        close(null)
        return isReceived
    }

    /// The start has failed: the process is about to end with `exitCode`, which is not 0.
    public consuming func failed(exitCode: Int32, message: String) {
        _ = send(exitCode == 0 ? 1 : exitCode, message)
    }

    /// With SIGPIPE ignored; false if nobody has the other end any more.
    private func send(_ code: Int32, _ message: String) -> Bool {
        let number = UInt32(bitPattern: code)
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } + Array(message.utf8.prefix(4000))
        return unsafe write(descriptor, bytes, bytes.count) == bytes.count
    }
}
