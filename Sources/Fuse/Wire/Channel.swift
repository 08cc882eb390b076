import CFuse3
import Glibc
import Synchronization
import SystemPackage

/// The connection to the kernel: /dev/fuse, or one end of a socket pair in tests. Non-blocking; waits in poll(2).
///
/// libfuse writes through ``sendReply(_:_:_:)``, so that it prints no errors to standard error, and does not read.
final class Channel: Sendable {
    let descriptor: Int32
    /// An eventfd(2) that ends the waits of the receiving thread permanently.
    private let wake: Int32
    /// An eventfd(2) that ends one wait of the receiving thread.
    private let wakeEvent: Int32

    /// Takes ownership of `descriptor`, which libfuse closes with its session.
    init(descriptor: Int32) throws(FuseError) {
        let flags = fcntl(descriptor, F_GETFL)
        guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0 else {
            throw .system(Errno(rawValue: errno), call: "fcntl")
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        wake = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        wakeEvent = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard wake >= 0, wakeEvent >= 0 else { throw .system(Errno(rawValue: errno), call: "eventfd") }
        self.descriptor = descriptor
    }

    deinit {
        close(wake)
        close(wakeEvent)
    }

    /// Ends ``waitForMessage()``, now and in the future.
    func interrupt() {
        eventfd_write(wake, 1)
    }

    /// Ends ``waitForMessage()`` once: the present call or the next one.
    func wakeWaiter() {
        eventfd_write(wakeEvent, 1)
    }

    /// Blocks until a message is available, the connection has ended, or the thread is woken.
    func waitForMessage() {
        var waiting = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeEvent, events: Int16(POLLIN), revents: 0),
        ]
        _ = unsafe poll(&waiting, 3, -1)
        var count: eventfd_t = 0
        if waiting[2].revents != 0 { unsafe eventfd_read(wakeEvent, &count) }
    }

    /// Whether the connection has ended: unmounted or aborted (POLLERR), or the socket was closed.
    var isDisconnected: Bool {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        return unsafe poll(&state, 1, 0) == 1 && state.revents & Int16(POLLERR | POLLHUP) != 0
    }

    /// Closes the connection while threads may still send: their messages are dropped. The number of the descriptor
    /// stays in use until libfuse closes it.
    func disconnect() {
        let nowhere = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        // An eventfd refuses messages.
        dup2(nowhere >= 0 ? nowhere : wake, descriptor)
        if nowhere >= 0 { close(nowhere) }
    }

    /// Sends one message that consists of `parts`. Returns the error, or nil.
    func send(_ parts: UnsafeMutableBufferPointer<iovec>) -> Errno? {
        unsafe Self.send(descriptor, parts.baseAddress, Int32(parts.count))
    }

    private static func send(_ descriptor: Int32, _ parts: UnsafePointer<iovec>?, _ count: Int32) -> Errno? {
        while true {
            if unsafe writev(descriptor, parts, count) >= 0 { return nil }
            let error = errno
            guard error == EINTR || error == EAGAIN else { return Errno(rawValue: error) }
            var writable = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            _ = unsafe poll(&writable, 1, -1)
        }
    }
}

extension Channel {
    /// The result of ``receive(into:)``.
    enum Received {
        /// A message of this many bytes.
        case message(Int)
        /// No message is available now.
        case none
        /// The connection has ended.
        case end
    }

    /// Reads one message without waiting. Skips messages that are shorter than a header and those that the kernel has withdrawn.
    func receive(into buffer: borrowing MessageBuffer) -> Received {
        while true {
            let count = unsafe read(descriptor, buffer.start, buffer.size)
            if count >= Message.headerSize { return .message(count) }
            // The other end of a socket is closed.
            if count == 0 { return .end }
            if count > 0 {
                buffer.wipe(count)
                FuseLog.write(.error, "a message of \(count) bytes was dropped")
            } else if let result = Self.received(errno) {
                return result
            }
        }
    }

    /// The result of a read that failed; nil if the read must be repeated (ENOENT: the request was interrupted).
    private static func received(_ error: Int32) -> Received? {
        switch error {
        case ENOENT: return nil
        case EINTR, EAGAIN: return Received.none
        case ENODEV, ECONNABORTED, ECONNRESET, ENOTCONN: return .end
        default:
            FuseLog.write(.error, "reading the device failed: \(Errno(rawValue: error))")
            return .end
        }
    }

    /// Sends a reply for libfuse; a function for `fuse_session_custom_io`.
    ///
    /// Returns ENOENT, which means that the caller no longer exists. Other errors are logged here and reported as
    /// success, because libfuse would print them, and no caller could handle them.
    static func sendReply(_ descriptor: Int32, _ parts: UnsafeMutablePointer<iovec>?, _ count: Int32) -> Int {
        guard let error = unsafe send(descriptor, parts, count) else { return 0 }
        if error.rawValue != ENOENT {
            if error.rawValue != ENODEV, error.rawValue != EPIPE {
                FuseLog.write(.error, "the kernel refused a reply: \(error)")
            }
            return 0
        }
        errno = ENOENT
        return -1
    }
}
