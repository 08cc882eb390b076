import Glibc
import Synchronization

/// The daemon's ends of the pipes to its ``MountWatchdog``.
final class GuardConnection: Sendable {
    private let messages: Int32
    private let replies: Int32
    private let guardID: pid_t
    /// Whether the guard still responds; locked during a request, so that each reply is to the last message.
    private let isResponsive = Mutex(true)

    /// The kernel detaches a FUSE mount without a request to it, so that only a guard that is traced takes longer.
    private let timeout: Int32

    /// Takes over the write end for messages and the read end of replies.
    ///
    /// - Parameters:
    ///   - guardID: The guard's process ID, of a child that was not waited for.
    ///   - timeout: Of a reply, in milliseconds.
    init(messages: Int32, replies: Int32, guardID: pid_t, timeout: Int32 = 10_000) {
        (self.messages, self.replies, self.guardID, self.timeout) = (messages, replies, guardID, timeout)
    }

    deinit {
        close(messages)
        close(replies)
    }

    /// A guard that has ended is not an error: SIGPIPE is blocked or ignored in a daemon.
    func send(_ message: GuardMessage) {
        let bytes = message.bytes
        _ = unsafe write(messages, bytes, bytes.count)
    }

    /// Asks the guard to unmount the mount that it watches.
    ///
    /// - Returns: Whether the guard has answered; false if it has ended or does not answer.
    /// - Throws: What Mount.unmount(_:lazily:) threw in the guard.
    func unmount(lazily: Bool) throws(FuseError) -> Bool {
        let reply = isResponsive.withLock { isResponsive -> [UInt8]? in
            guard isResponsive else { return nil }
            // A guard that was stopped (SIGSTOP) would not answer.
            kill(guardID, SIGCONT)
            send(.unmount(lazily: lazily))
            let reply = receive()
            isResponsive = reply != nil
            return reply
        }
        guard let reply else { return false }
        if let error = GuardReply.error(reply) { throw error }
        return true
    }

    /// Nil at the end of the pipe, and after the timeout.
    private func receive() -> [UInt8]? {
        var waiting = pollfd(fd: replies, events: Int16(POLLIN), revents: 0)
        guard retrying({ unsafe poll(&waiting, 1, timeout) }) > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: GuardReply.byteLimit)
        let count = retrying { unsafe read(replies, &bytes, bytes.count) }
        return count > 0 ? Array(bytes[..<count]) : nil
    }

    /// A signal must not look like a guard that does not answer: without it a process that has renounced privileges cannot unmount.
    private func retrying<Result: SignedInteger>(_ call: () -> Result) -> Result {
        var result = call()
        while result < 0, errno == EINTR { result = call() }
        return result
    }
}
