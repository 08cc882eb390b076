import Glibc
import Synchronization

/// The daemon's ends of the pipes to its ``MountGuard``.
final class GuardConnection: Sendable {
    private let messages: Int32
    private let replies: Int32
    private let guardID: pid_t
    /// Whether the guard still answers; locked while it is asked, so that each reply is to the last message.
    private let answers = Mutex(true)

    /// In milliseconds. The kernel detaches a FUSE mount without a request to it, so that only a guard that is traced takes longer.
    private static let patience: Int32 = 10_000

    /// Takes over the write end for messages and the read end of replies.
    ///
    /// - Parameter guardID: The guard's process ID, of a child that was not waited for.
    init(messages: Int32, replies: Int32, guardID: pid_t) {
        (self.messages, self.replies, self.guardID) = (messages, replies, guardID)
    }

    deinit {
        close(messages)
        close(replies)
    }

    /// A guard that has ended is no error: SIGPIPE is blocked or ignored in a daemon.
    func send(_ message: GuardMessage) {
        let bytes = message.bytes
        _ = unsafe write(messages, bytes, bytes.count)
    }

    /// Asks the guard to unmount the mount that it watches.
    ///
    /// - Throws: What fusermount3 said; `.helperMissing` if the guard has ended or does not answer.
    func unmount(lazily: Bool) throws(FuseError) {
        let error = answers.withLock { answers -> FuseError? in
            guard answers else { return .helperMissing }
            // One that was stopped (SIGSTOP) would not answer.
            kill(guardID, SIGCONT)
            send(.unmount(lazily: lazily))
            guard let reply = receive() else {
                answers = false
                return .helperMissing
            }
            return GuardReply.error(reply)
        }
        if let error { throw error }
    }

    private func receive() -> [UInt8]? {
        var waiting = pollfd(fd: replies, events: Int16(POLLIN), revents: 0)
        var bytes = [UInt8](repeating: 0, count: GuardReply.byteLimit)
        guard unsafe poll(&waiting, 1, Self.patience) > 0, case let count = unsafe read(replies, &bytes, bytes.count),
            count > 0
        else { return nil }
        return Array(bytes[..<count])
    }
}
