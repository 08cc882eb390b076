import CFuse3
import Glibc
public import SystemPackage

/// This program once more, to do what may never end: to touch a mount whose daemon may not answer.
///
/// A thread cannot do that: one that waits in the kernel for an answer to a request that the daemon has taken cannot be
/// killed, and its process does not end without it. Nobody waits for a helper that is given up.
public struct HelperProcess: ~Copyable {
    /// Where the helper finds its input, up to the end.
    public static let inputDescriptor: Int32 = 3
    /// Where it puts its answer (``answer(_:_:)``).
    public static let answerDescriptor: Int32 = 4
    /// In bytes: the most that the input and an answer have.
    public static let limit = 1 << 20

    /// What has become of it.
    public enum Outcome: Sendable {
        case answered(status: Int32, bytes: [UInt8])
        /// It has ended without an answer.
        case died
        /// Not yet.
        case silent
    }

    private let child: ChildProcess
    private let output: Pipe
    private var received: [UInt8] = []

    /// Starts it; `input` goes through a pipe, and nowhere else. Throws EMSGSIZE for more than a pipe takes.
    public init(arguments: [String], input: RawSpan) throws(Errno) {
        var inputPipe = try Pipe()
        var answerPipe = try Pipe()
        try Self.send(input, into: inputPipe.writeEnd)
        inputPipe.closeWriteEnd()
        child = try ChildProcess(
            .init(
                executable: ChildProcess.ownProgram, arguments: arguments,
                descriptors: [
                    Self.inputDescriptor: inputPipe.readEnd, Self.answerDescriptor: answerPipe.writeEnd,
                ]))
        inputPipe.closeReadEnd()
        answerPipe.closeWriteEnd()
        output = answerPipe
    }

    /// Ends it if that is possible, and does not wait if it is not.
    deinit {
        kill(child.identifier, SIGKILL)
        for _ in 0..<20 where waitpid(child.identifier, nil, WNOHANG) == 0 { usleep(2_000) }
    }

    /// Waits for its answer, at most so long.
    public mutating func wait(milliseconds: Int) -> Outcome {
        let deadline = Self.now + milliseconds
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            var waiting = pollfd(fd: output.readEnd, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&waiting, 1, Int32(clamping: max(0, deadline - Self.now)))
            if ready == 0 { return .silent }
            let count = ready < 0 ? -1 : unsafe read(output.readEnd, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0, received.count <= Self.limit else { return end }
            received += chunk[..<count]
        }
    }

    /// In the helper: gives its answer; ends with whoever has started it.
    public static func answer(_ status: Int32, _ bytes: [UInt8]) {
        let number = UInt32(bitPattern: status)
        let all = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } + bytes
        var done = 0
        while done < all.count {
            let count = unsafe all[done...].withUnsafeBytes { unsafe write(answerDescriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { return }
            done += max(0, count)
        }
    }

    /// In the helper, first of all: it is of no use to anybody else.
    public static func endWithParent() { cfuse3_signal_at_parents_end(SIGKILL) }

    private var end: Outcome {
        guard received.count >= 4 else { return .died }
        let status = received[..<4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return .answered(status: Int32(bitPattern: status), bytes: Array(received.dropFirst(4)))
    }

    /// There is no reader yet, and so no SIGPIPE: all of it has to fit.
    private static func send(_ input: RawSpan, into descriptor: Int32) throws(Errno) {
        // Not granted, it is 64 KiB.
        if input.byteCount > 65_536 { _ = cfuse3_set_pipe_size(descriptor, Int32(limit)) }
        try BackgroundStart.send(input, into: descriptor, limit: limit)
    }

    /// In milliseconds, by a clock that nobody sets.
    private static var now: Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
}
