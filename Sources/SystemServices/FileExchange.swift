import CSystemServices
import Glibc
public import SystemPackage

/// One question to a file whose file system may never answer, and its answer.
///
/// A child process asks, forked from this one. A thread cannot do that: one that waits in the kernel for an answer to a request
/// that the file system has taken cannot be killed, and its process does not end without it. Nobody waits for a child that is
/// given up.
public struct FileExchange: ~Copyable {
    /// What has become of it.
    public enum Outcome: Sendable {
        case answered([UInt8])
        /// It could not be opened.
        case unopened(Errno)
        /// A write or a read has failed.
        case refused(Errno)
        /// The child has ended without an answer.
        case died
        /// Not yet.
        case silent
    }

    private let child: pid_t
    private let peer: FileDescriptor
    private var received: [UInt8] = []
    private var hasEnded = false

    /// Begins; `message` is one write(2), and nil none. It goes through memory of the kernel's and the child's locked memory.
    public init(path: String, message: RawSpan?) throws(Errno) {
        var socket: Int32 = -1
        child = unsafe file_exchange_start(path, message != nil, &socket)
        guard child > 0 else { throw Errno(rawValue: -child) }
        peer = FileDescriptor(rawValue: socket)
        if let message { send(message) }
        shutdown(socket, Int32(SHUT_WR))
    }

    /// Ends the child if that is possible, and does not wait if it is not.
    deinit {
        try? peer.close()
        guard !hasEnded else {
            _ = waitpid(child, nil, 0)
            return
        }
        kill(child, SIGKILL)
        for _ in 0..<20 {
            guard waitpid(child, nil, WNOHANG) == 0 else { return }
            usleep(2_000)
        }
    }

    /// Waits for the answer, at most so long.
    public mutating func wait(milliseconds: Int) -> Outcome {
        let deadline = SuspendingClock.now + .milliseconds(milliseconds)
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            var waiting = pollfd(fd: peer.rawValue, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&waiting, 1, Self.milliseconds(until: deadline))
            if ready == 0 { return .silent }
            let count = ready < 0 ? -1 : unsafe recv(peer.rawValue, &chunk, chunk.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return end() }
            received += chunk[..<count]
        }
    }

    private mutating func end() -> Outcome {
        hasEnded = true
        guard received.count >= 4 else { return .died }
        let number = received[..<4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let status = Int32(bitPattern: number)
        if status == 0 { return .answered(Array(received.dropFirst(4))) }
        return status < 0 ? .unopened(Errno(rawValue: -status)) : .refused(Errno(rawValue: status))
    }

    /// To a child that has died meanwhile nothing is sent: ``wait(milliseconds:)`` tells.
    private func send(_ message: RawSpan) {
        unsafe message.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
                let count = unsafe Glibc.send(peer.rawValue, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                done += count
            }
        }
    }

    private static func milliseconds(until deadline: SuspendingClock.Instant) -> Int32 {
        let (seconds, attoseconds) = max(.zero, deadline - .now).components
        return Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
