import CFuse3
import FileSystemCore
import Glibc
import Synchronization
import SystemPackage

/// Receives messages into this module's own buffers and passes them to libfuse for decoding.
final class ReceiveLoop: Sendable {
    private let session: SessionHandle
    private let channel: Channel
    private let polls: Mutex<AdaptivePolling>
    private let receiverServesIO: Bool
    private let stacks: StackWipe
    private let large = MessageBufferPool(size: MessageBuffer.size, limit: 4)
    /// Any number of requests may block. Buffers beyond the retained ones are rarely needed; RLIMIT_MEMLOCK may prevent
    /// that they are locked.
    private let small = MessageBufferPool(size: MessageBuffer.shortSize, kept: keptSmallBuffers)
    static let keptSmallBuffers = 256
    private let plain = MessageBufferPool(plainSize: Opcode.longestNumeric, kept: 64)

    /// Whether all buffers are locked in memory.
    var buffersAreLocked: Bool { large.areLocked && small.areLocked }

    init(_ session: SessionHandle, _ channel: Channel, _ options: SessionOptions, _ stacks: StackWipe) {
        self.stacks = stacks
        self.session = session
        self.channel = channel
        polls = Mutex(AdaptivePolling(duration: UInt64(min(max(options.pollMicroseconds, 0), 1000)) * 1000))
        receiverServesIO = options.receiverServesIO
        ReceiverRole.observesWaits
    }

    /// The main function of a worker, until the session ends or the worker is surplus.
    func work(_ workers: WorkerPool) {
        let stack = stacks.join()
        let role = ReceiverRole(workers, large: large, stack)
        ReceiverRole.current = role
        var hasServed = false
        loop: while true {
            switch workers.nextTask(hasServed: hasServed, tidying: { stacks.wipeIfDue(role.stack) }) {
            case .receive:
                switch receiveAndServe(role, workers) {
                case .sessionEnded:
                    workers.end()
                    break loop
                case .yielded(let servedBlocking): hasServed = servedBlocking
                }
            case .serve(let message):
                serve(message, role)
                hasServed = true
            case .exit: break loop
            }
        }
        ReceiverRole.current = nil
        stacks.leave(stack)
    }

    /// The reason why a thread stops receiving.
    private enum End {
        case sessionEnded
        /// Another thread has the receiver role. `servedBlocking`: this thread has served a request that counts as
        /// blocking.
        case yielded(servedBlocking: Bool)
    }

    /// Receives and serves requests until another thread has the receiver role.
    private func receiveAndServe(_ role: ReceiverRole, _ workers: WorkerPool) -> End {
        guard let lease = acquire(from: large) else { return .sessionEnded }
        role.assume(lease)
        var hasServed = false
        while let count = receive(into: lease.buffer, role, polls: hasServed) {
            hasServed = true
            let blocking = blocking(count, in: lease.buffer)
            if blocking == .possible, let message = move(count, from: lease.buffer) {
                if workers.dispatch(message) { continue }
                role.yield()
                serve(message, role)
                return .yielded(servedBlocking: true)
            }
            if blocking == .reportedByHandler, let message = moveIfFree(count, from: lease.buffer) {
                serve(message, role)
            } else {
                role.beginReceived(count)
                if blocking == .possible { role.yield() }
                serve(count, in: lease.buffer, role)
            }
            guard role.isReceiver else { return .yielded(servedBlocking: false) }
        }
        return .sessionEnded
    }

    /// Moves a short message out of the buffer that the next receiver needs. Returns nil for a long message.
    private func move(_ count: Int, from buffer: borrowing MessageBuffer) -> WorkerPool.Message? {
        guard count <= MessageBuffer.shortSize else { return nil }
        let buffers = isNumeric(count, in: buffer) ? plain : small
        return acquire(from: buffers).map { fill($0, of: buffers, count, from: buffer) }
    }

    /// Moves a short message if a buffer is free.
    private func moveIfFree(_ count: Int, from buffer: borrowing MessageBuffer) -> WorkerPool.Message? {
        guard count <= MessageBuffer.shortSize else { return nil }
        return small.acquireIfFree().map { fill($0, of: small, count, from: buffer) }
    }

    private func fill(
        _ lease: consuming MessageBufferPool.Lease, of buffers: MessageBufferPool, _ count: Int,
        from buffer: borrowing MessageBuffer
    ) -> WorkerPool.Message {
        lease.buffer.move(count, from: buffer)
        lease.count = count
        return WorkerPool.Message(lease: lease, buffers: buffers)
    }

    private func isNumeric(_ count: Int, in buffer: borrowing MessageBuffer) -> Bool {
        count <= Opcode.longestNumeric && Message(buffer.bytes(count))?.opcode?.isNumeric == true
    }

    private func serve(_ message: WorkerPool.Message, _ role: ReceiverRole) {
        role.beginMoved(message.lease, of: message.buffers)
        serve(message.lease.count, in: message.lease.buffer, role)
    }

    private func acquire(from buffers: MessageBufferPool) -> MessageBufferPool.Lease? {
        do throws(Errno) {
            return try buffers.acquire()
        } catch {
            FuseLog.write(.error, "no memory for a receive buffer: \(error)")
            return nil
        }
    }

    /// Whether serving a message may block.
    private enum Blocking {
        case never, possible
        /// The file system announces it (``Request/willBlock()``).
        case reportedByHandler
    }

    private func blocking(_ count: Int, in buffer: borrowing MessageBuffer) -> Blocking {
        guard let opcode = Message(buffer.bytes(count))?.opcode, opcode.mayBlock else { return .never }
        return receiverServesIO && opcode.reportsBlocking ? .reportedByHandler : .possible
    }

    private func serve(_ count: Int, in buffer: borrowing MessageBuffer, _ role: ReceiverRole) {
        role.stack.isBusy = true
        // Refused messages contain secrets and names, too.
        defer {
            role.stack.isBusy = false
            role.release()
            ProcessMemory.wipeRegisters()
        }
        guard let message = Message(buffer.bytes(count)) else { return }
        let opcode = message.opcode
        guard message.isComplete, opcode != .notifyReply else { return refuse(message.unique, opcode) }
        role.isCopied = opcode?.isCopied ?? false
        CurrentMessage.lockOwner = message.setattrLockOwner ?? 0
        var received = unsafe fuse_buf()
        unsafe received.mem = buffer.start
        unsafe received.size = count
        unsafe fuse_session_process_buf(session.pointer, &received)
    }

    /// Returns the length of the next message; nil at the end of the session. Polls only after a request has been
    /// served, so that an idle session uses no CPU time.
    private func receive(
        into buffer: borrowing MessageBuffer, _ role: ReceiverRole, polls mayPoll: Bool
    ) -> Int? {
        var wait = Wait(mayPoll: mayPoll)
        while unsafe fuse_session_exited(session.pointer) == 0 {
            stacks.wipeIfDue(role.stack)
            switch channel.receive(into: buffer) {
            case .message(let count):
                end(wait, hasCaught: true)
                return unsafe fuse_session_exited(session.pointer) == 0 ? count : nil
            case .end:
                unsafe fuse_session_exit(session.pointer)
                return nil
            case .none: pass(&wait)
            }
        }
        return nil
    }

    // MARK: Waiting

    /// The state of a thread that waits for the next message: it polls for a while if permitted, then blocks.
    private struct Wait {
        var mayPoll: Bool
        var poll: AdaptivePolling.Poll?
    }

    /// Yields the CPU briefly, or blocks until a message arrives.
    private func pass(_ wait: inout Wait) {
        let now = Self.monotonicNanoseconds()
        if wait.mayPoll {
            wait.mayPoll = false
            wait.poll = polls.withLock { $0.begin(at: now) }
        }
        if let poll = wait.poll, now < poll.deadline {
            // The client may need this CPU.
            sched_yield()
        } else {
            end(wait, hasCaught: false)
            wait.poll = nil
            channel.waitForMessage()
        }
    }

    private func end(_ wait: Wait, hasCaught: Bool) {
        guard wait.poll != nil else { return }
        let now = hasCaught ? 0 : Self.monotonicNanoseconds()
        polls.withLock { $0.end(hasCaught: hasCaught, at: now) }
    }

    /// Replies to a message that libfuse must not decode, because it would read beyond its end.
    private func refuse(_ unique: UInt64, _ opcode: Opcode?) {
        FuseLog.write(.error, "a malformed message was refused")
        guard !(opcode?.hasNoReply ?? false) else { return }
        var header = fuse_out_header(len: UInt32(MemoryLayout<fuse_out_header>.size), error: -EIO, unique: unique)
        unsafe withUnsafeMutableBytes(of: &header) { header in
            var part = unsafe [iovec(iov_base: header.baseAddress, iov_len: header.count)]
            _ = unsafe part.withUnsafeMutableBufferPointer { unsafe channel.send($0) }
        }
    }

    private static func monotonicNanoseconds() -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
