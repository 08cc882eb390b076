import CLinuxSupport
import Glibc
public import SystemPackage

/// A request to a file whose file system may never respond, made by a forked child process.
///
/// A thread that waits in the kernel for a FUSE reply cannot be killed, and its process cannot exit before it returns.
/// An abandoned child is killed and not waited for, unless it executes an order.
public struct ChildFileRequest: ~Copyable {
    /// The next event of a request.
    public enum Outcome: Sendable {
        /// The child has opened the file, which is in this mount. ``send(_:)`` must follow, except for an order.
        case opened(MountIdentity)
        case answered([UInt8])
        /// Opening the file has failed.
        case unopened(Errno)
        /// A write or read has failed.
        case refused(Errno)
        /// The child has exited without a response.
        case died
        /// Nothing has happened before the timeout.
        case silent
    }

    private let child: pid_t
    private let peer: FileDescriptor
    private var received: [UInt8] = []
    private var isOpen = false
    private var hasEnded = false
    private let isOrder: Bool

    /// Starts to open the file `name` below `directory`. No component of `name` may be a symbolic link.
    ///
    /// - Parameter isWritten: Whether the message of ``send(_:)`` is written to the file.
    public init(directory: String, name: String, isWritten: Bool) throws(Errno) {
        (child, peer) = try unsafe Self.start(directory, name, isWritten: isWritten, order: nil)
        isOrder = false
    }

    /// Starts to write `order` to the file `name` below `directory`. The child writes it even after the end of this object and this
    /// process, as soon as the file system responds, but only to a file in `mount`. It must contain no secret.
    public init(directory: String, name: String, order: [UInt8], in mount: MountIdentity) throws(Errno) {
        (child, peer) = try unsafe order.withUnsafeBufferPointer { bytes throws(Errno) in
            try unsafe Self.start(
                directory, name, isWritten: true, order: mount.order(UnsafeRawBufferPointer(bytes)))
        }
        isOrder = true
    }

    private static func start(
        _ directory: String, _ name: String, isWritten: Bool, order: child_file_request_order?
    ) throws(Errno) -> (child: pid_t, peer: FileDescriptor) {
        var socket: Int32 = -1
        let child = unsafe directory.withCString { directory in
            unsafe name.withCString { name in
                var place = unsafe child_file_request_place(
                    directory: directory, name: name, is_written: isWritten, order: nil)
                guard var order = unsafe order else { return unsafe child_file_request_start(&place, &socket) }
                return unsafe withUnsafePointer(to: &order) { order in
                    unsafe place.order = unsafe order
                    return unsafe child_file_request_start(&place, &socket)
                }
            }
        }
        guard child > 0 else { throw Errno(rawValue: -child) }
        return (child, FileDescriptor(rawValue: socket))
    }

    /// Kills the child unless it executes an order, and does not wait for its exit.
    deinit {
        try? peer.close()
        guard !hasEnded else {
            _ = waitpid(child, nil, 0)
            return
        }
        guard !isOrder else { return }
        kill(child, SIGKILL)
        for _ in 0..<20 {
            guard waitpid(child, nil, WNOHANG) == 0 else { return }
            usleep(2_000)
        }
    }

    /// Sends the message, which the child writes with one write(2). The file must be open.
    ///
    /// The message passes through a kernel buffer and locked memory of the child. Has no effect if the child has
    /// exited; ``wait(milliseconds:)`` reports that.
    public mutating func send(_ message: RawSpan) {
        StreamSocket.send(message, to: peer.rawValue)
        shutdown(peer.rawValue, Int32(SHUT_WR))
    }

    /// Waits up to `milliseconds` for the next event.
    public mutating func wait(milliseconds: Int) -> Outcome {
        let deadline = SuspendingClock.now + .milliseconds(milliseconds)
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            if !isOpen, let opening = takeOpening() { return opening }
            var waiting = pollfd(fd: peer.rawValue, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&waiting, 1, Self.milliseconds(until: deadline))
            if ready == 0 { return .silent }
            let count = ready < 0 ? -1 : unsafe recv(peer.rawValue, &chunk, chunk.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return end() }
            received += chunk[..<count]
        }
    }

    /// Returns the first record, or nil if it has not arrived.
    private mutating func takeOpening() -> Outcome? {
        let size = MemoryLayout<child_file_request_opening>.size
        guard received.count >= size else { return nil }
        let opening = unsafe received.withUnsafeBytes { unsafe $0.loadUnaligned(as: child_file_request_opening.self) }
        received.removeFirst(size)
        isOpen = true
        guard opening.error == 0 else { return .unopened(Errno(rawValue: opening.error)) }
        return .opened(MountIdentity(mount: opening.mount, device: opening.device))
    }

    private mutating func end() -> Outcome {
        hasEnded = true
        guard isOpen, received.count >= 4 else { return .died }
        let status = unsafe received.withUnsafeBytes { unsafe $0.loadUnaligned(as: Int32.self) }
        return status == 0 ? .answered(Array(received.dropFirst(4))) : .refused(Errno(rawValue: status))
    }

    private static func milliseconds(until deadline: SuspendingClock.Instant) -> Int32 {
        let (seconds, attoseconds) = max(.zero, deadline - .now).components
        return Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
