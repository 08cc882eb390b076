import CFuse3
import Glibc
import Synchronization
import SystemPackage

/// The kernel's end of the FUSE protocol (linux/fuse.h) over one end of a SOCK_SEQPACKET pair.
///
/// Several threads may have requests in progress; a separate thread matches replies to them.
public final class WireConnection: Sendable {
    /// A reply: the error number (0 or positive) and the bytes after the header.
    public struct Reply: Sendable {
        public let error: Int32
        public let body: [UInt8]
    }

    /// A notification, which no request caused.
    public struct Notification: Sendable {
        /// `enum fuse_notify_code`; 8 is FUSE_NOTIFY_INC_EPOCH.
        public let code: Int32
        public let body: [UInt8]
        /// The number of replies that came before it.
        public let repliesBefore: Int
    }

    private struct State {
        var waiting: [UInt64: PendingReply] = [:]
        var interrupts: Set<UInt64> = []
        var notifications: [Notification] = []
        var replies = 0
        var unexpected = 0
        var isClosed = false
    }

    private final class PendingReply: Sendable {
        private let answer = Mutex<Reply?>(nil)
        private let arrived = TestSemaphore()
        func put(_ new: Reply) {
            answer.withLock { $0 = new }
            arrived.signal()
        }
        func take() -> Reply {
            arrived.wait()
            return answer.withLock { $0 } ?? Reply(error: ENOTCONN, body: [])
        }
    }

    private let descriptor: Int32
    private let state = Mutex(State())
    private let nextUnique = Atomic<UInt64>(2)

    /// Takes `descriptor` over.
    public init(descriptor: Int32) {
        self.descriptor = descriptor
        let reader = TestThread { [self] in readReplies() }
        reader.start()
    }

    deinit { Glibc.close(descriptor) }

    /// Two ends that keep messages apart.
    public static func pair() throws(Errno) -> (session: Int32, client: Int32) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw Errno(rawValue: errno)
        }
        // One message holds a whole READ or WRITE.
        var size: Int32 = 1 << 20
        for end in ends {
            setsockopt(end, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        return (ends[0], ends[1])
    }

    /// Ends the session at the other end.
    public func close() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    public var notifications: [Notification] { state.withLock { $0.notifications } }
    /// The number of replies to no request, or to an already answered one.
    public var unexpectedReplies: Int { state.withLock { $0.unexpected } }

    /// The requests that have no answer yet, oldest first.
    public var outstanding: [UInt64] { state.withLock { $0.waiting.keys.sorted() } }

    /// Sends a request and waits for its answer.
    public func call(_ request: WireRequest) -> Reply {
        let unique = nextUnique.add(2, ordering: .relaxed).oldValue
        let pending = PendingReply()
        let isOpen = state.withLock { state in
            if !state.isClosed { state.waiting[unique] = pending }
            return !state.isClosed
        }
        guard isOpen, send(request.message(unique: unique)) else { return Reply(error: ENOTCONN, body: []) }
        return pending.take()
    }

    /// Sends what has no answer: FORGET, BATCH_FORGET, INTERRUPT.
    public func post(_ request: WireRequest) {
        let unique = nextUnique.add(2, ordering: .relaxed).oldValue
        if request.opcode == FUSE_INTERRUPT.rawValue { state.withLock { _ = $0.interrupts.insert(unique) } }
        _ = send(request.message(unique: unique))
    }

    /// Sends bytes unchanged; a reply counts as unexpected unless a request waits for it.
    public func send(_ message: [UInt8]) -> Bool {
        Glibc.send(descriptor, message, message.count, Int32(MSG_NOSIGNAL)) == message.count
    }

    private func readReplies() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 << 20, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count < 0 && errno == EINTR { continue }
            guard count >= 16 else { break }
            receive(Array(buffer[..<count]))
        }
        let left = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for pending in left { pending.put(Reply(error: ENOTCONN, body: [])) }
    }

    private func receive(_ message: [UInt8]) {
        let header = message.value(at: 0, as: fuse_out_header.self)
        let body = Array(message.dropFirst(16))
        let pending = state.withLock { state -> PendingReply? in
            if header.unique == 0 {
                state.notifications.append(
                    Notification(code: header.error, body: body, repliesBefore: state.replies))
                return nil
            }
            state.replies += 1
            let pending = state.waiting.removeValue(forKey: header.unique)
            // libfuse may ask for the repetition of an interrupt whose request it does not know (fuse.rst, "Interrupting
            // filesystem operations").
            let isRepetition = header.error == -EAGAIN && state.interrupts.remove(header.unique) != nil
            if pending == nil, !isRepetition { state.unexpected += 1 }
            return pending
        }
        pending?.put(Reply(error: -header.error, body: body))
    }
}
