import Glibc
import Synchronization

/// The daemon's ends of the pipes to its ``MountWatchdog``.
final class WatchdogConnection: Sendable {
    private let messages: Int32
    private let replies: Int32
    private let watchdogID: pid_t
    /// Whether the watchdog responds. Locked during a request, so that a reply belongs to the last message.
    private let isResponsive = Mutex(true)

    /// The timeout of a reply in milliseconds. The kernel detaches a FUSE mount without a request to it, so only a
    /// watchdog that is traced takes longer.
    private let timeout: Int32

    /// Takes ownership of the write end for messages and of the read end for replies.
    ///
    /// - Parameters:
    ///   - watchdogID: The watchdog's process ID. The child has not been waited for.
    ///   - timeout: The timeout of a reply in milliseconds.
    init(messages: Int32, replies: Int32, watchdogID: pid_t, timeout: Int32 = 10_000) {
        (self.messages, self.replies, self.watchdogID, self.timeout) = (messages, replies, watchdogID, timeout)
    }

    deinit {
        close(messages)
        close(replies)
    }

    /// Sends a message. A watchdog that has exited is not an error: SIGPIPE is blocked or ignored in a daemon.
    func send(_ message: WatchdogMessage) {
        let bytes = message.bytes
        _ = unsafe write(messages, bytes, bytes.count)
    }

    /// Requests an unmount of the watched mount.
    ///
    /// - Returns: Whether the watchdog has replied.
    /// - Throws: The error of Mount.unmount(_:lazily:) in the watchdog.
    func unmount(lazily: Bool) throws(FuseError) -> Bool {
        let reply = isResponsive.withLock { isResponsive -> [UInt8]? in
            guard isResponsive else { return nil }
            // A stopped watchdog (SIGSTOP) would not reply.
            kill(watchdogID, SIGCONT)
            send(.unmount(lazily: lazily))
            let reply = receive()
            isResponsive = reply != nil
            return reply
        }
        guard let reply else { return false }
        if let error = WatchdogReply.error(reply) { throw error }
        return true
    }

    /// Reads a reply; nil at the end of the pipe and after the timeout.
    private func receive() -> [UInt8]? {
        var waiting = pollfd(fd: replies, events: Int16(POLLIN), revents: 0)
        guard retrying({ unsafe poll(&waiting, 1, timeout) }) > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: WatchdogReply.byteLimit)
        let count = retrying { unsafe read(replies, &bytes, bytes.count) }
        return count > 0 ? Array(bytes[..<count]) : nil
    }

    /// Repeats a call after EINTR. A signal must not look like a watchdog that does not respond: without the watchdog,
    /// a process that has renounced privileges cannot unmount.
    private func retrying<Result: SignedInteger>(_ call: () -> Result) -> Result {
        var result = call()
        while result < 0, errno == EINTR { result = call() }
        return result
    }
}
