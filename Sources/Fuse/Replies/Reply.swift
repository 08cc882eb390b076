import CFuse3
import FileSystemCore
import Glibc
import SystemPackage

/// The obligation to reply to one request with a `Body` or an error, exactly once, because sending consumes it.
///
/// A dropped reply sends EIO, so that a defect leaves no caller waiting in the kernel.
struct Reply<Body: ReplyBody>: ~Copyable, Sendable {
    private let ticket: FuseRequest
    private var isAnswered = false

    init(_ ticket: FuseRequest) { self.ticket = ticket }

    /// Sends the notifications that precede the reply, and then the reply.
    consuming func send(_ body: Body, notifying notifications: Notifications) {
        isAnswered = true
        let ticket = ticket
        if notifications.isEmpty { return ticket.send(body) }
        ticket.dispatcher.notifier.deliver(notifications) { ticket.send(body) }
    }

    consuming func fail(_ error: Errno, notifying notifications: Notifications) {
        isAnswered = true
        let ticket = ticket
        if notifications.isEmpty { return ticket.fail(error) }
        ticket.dispatcher.notifier.deliver(notifications) { ticket.fail(error) }
    }

    deinit {
        guard !isAnswered else { return }
        FuseLog.write(.error, "a handler sent no reply to a request: EIO")
        ticket.fail(.ioError)
    }
}

extension Reply where Body == DataReply {
    /// Sends the bytes without a copy; copies them only if the reply must wait for notifications.
    consuming func send(_ bytes: RawSpan, notifying notifications: Notifications) {
        guard notifications.isEmpty else {
            return send(DataReply(bytes: WipingBuffer(copying: bytes)), notifying: notifications)
        }
        isAnswered = true
        ticket.send(bytes)
    }
}

/// A request of libfuse, as its address. Valid until the reply has been sent.
struct FuseRequest: Sendable {
    private let address: UInt
    let dispatcher: Dispatcher
    let caller: Caller

    init(_ request: OpaquePointer, _ dispatcher: Dispatcher) {
        address = UInt(bitPattern: request)
        self.dispatcher = dispatcher
        let context = unsafe fuse_req_ctx(request)
        caller = unsafe Caller(
            userID: context?.pointee.uid ?? 0, groupID: context?.pointee.gid ?? 0,
            processID: context?.pointee.pid ?? 0)
    }

    /// Returns the request for the file system. Must not be used after the reply.
    func request() -> Request {
        let address = address
        return Request(
            caller: caller,
            interrupted: {
                guard let request = unsafe OpaquePointer(bitPattern: address) else { return false }
                return unsafe fuse_req_interrupted(request) != 0
            }, willBlock: ReceiverRole.yieldCurrent, releasing: ReceiverRole.releaseMessage)
    }

    fileprivate func send(_ body: some ReplyBody) {
        guard let request = unsafe OpaquePointer(bitPattern: address) else { return }
        if unsafe body.send(to: request) == -ENOENT { body.undo(dispatcher, caller: caller) }
    }

    fileprivate func send(_ bytes: RawSpan) {
        guard let request = unsafe OpaquePointer(bitPattern: address) else { return }
        unsafe bytes.withUnsafeBytes { bytes in
            _ = unsafe fuse_reply_buf(request, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        }
    }

    /// The kernel accepts error numbers from 1 to 999; others become EIO.
    fileprivate func fail(_ error: Errno) {
        guard let request = unsafe OpaquePointer(bitPattern: address) else { return }
        _ = unsafe fuse_reply_err(request, (1..<1000).contains(error.rawValue) ? error.rawValue : EIO)
    }
}
