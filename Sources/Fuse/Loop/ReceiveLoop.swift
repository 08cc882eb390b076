import CFuse3
import Glibc
import Synchronization
import SystemPackage

/// Receives messages into buffers of our own and has libfuse take them apart.
final class ReceiveLoop: Sendable {
    private let session: SessionHandle
    private let channel: Channel
    private let polls: Mutex<PollHistory>
    private let servesAtOnce: Bool
    private let stacks: StackWipe
    private let large = MessageBuffers(size: MessageBuffer.size, limit: 4)
    /// Any number of requests may wait. Beyond those that are kept, these are seldom needed; RLIMIT_MEMLOCK may not allow to lock them.
    private let small = MessageBuffers(size: MessageBuffer.shortSize, kept: Workers.most)
    private let plain = MessageBuffers(plainSize: Opcode.longestNumeric, kept: 64)

    /// Whether every buffer so far could be locked into memory.
    var buffersAreLocked: Bool { large.areLocked && small.areLocked }

    init(_ session: SessionHandle, _ channel: Channel, _ options: SessionOptions, _ stacks: StackWipe) {
        self.stacks = stacks
        self.session = session
        self.channel = channel
        polls = Mutex(PollHistory(duration: UInt64(min(max(options.pollMicroseconds, 0), 1000)) * 1000))
        servesAtOnce = options.servesAtOnce
    }

    /// What each worker runs, until the session ends or there is one too many.
    func work(_ workers: Workers) {
        var stack = stacks.join()
        let lead = Lead(workers, large: large)
        Lead.ofThisThread = lead
        var hasServed = false
        loop: while true {
            switch workers.park(hasServed: hasServed, tidying: { stacks.wipeIfDue(&stack) }) {
            case .lead:
                switch receiveAndServe(lead, workers, &stack) {
                case .sessionEnded:
                    workers.end()
                    break loop
                case .yielded(let servedWaiting): hasServed = servedWaiting
                }
            case .serve(let message):
                serve(message, lead)
                hasServed = true
            case .end: break loop
            }
        }
        Lead.ofThisThread = nil
        stacks.leave(stack)
    }

    /// Why a thread stops receiving.
    private enum End {
        case sessionEnded
        /// Another thread has the role. `servedWaiting`: for a request that counts among those that may wait.
        case yielded(servedWaiting: Bool)
    }

    /// Receives and serves until another thread has the receiver role.
    private func receiveAndServe(_ lead: Lead, _ workers: Workers, _ stack: inout StackWipe.Member) -> End {
        guard let slot = take(from: large) else { return .sessionEnded }
        lead.hold(slot)
        var hasServed = false
        while let count = receive(into: slot.buffer, &stack, polls: hasServed) {
            hasServed = true
            let waiting = waiting(count, in: slot.buffer)
            if waiting == .possible, let message = move(count, from: slot.buffer) {
                if workers.delegate(message) { continue }
                lead.pass()
                serve(message, lead)
                return .yielded(servedWaiting: true)
            }
            if waiting == .told, let message = moveIfFree(count, from: slot.buffer) {
                serve(message, lead)
            } else {
                lead.beginReceived(count)
                if waiting == .possible { lead.pass() }
                serve(count, in: slot.buffer, lead)
            }
            guard lead.isHeld else { return .yielded(servedWaiting: false) }
        }
        return .sessionEnded
    }

    /// Moves a short message out of the buffer that the next receiver needs. Nil for a long one.
    private func move(_ count: Int, from buffer: borrowing MessageBuffer) -> Workers.Message? {
        guard count <= MessageBuffer.shortSize else { return nil }
        let buffers = isNumeric(count, in: buffer) ? plain : small
        return take(from: buffers).map { fill($0, of: buffers, count, from: buffer) }
    }

    /// Moves a short message if a buffer is free.
    private func moveIfFree(_ count: Int, from buffer: borrowing MessageBuffer) -> Workers.Message? {
        guard count <= MessageBuffer.shortSize else { return nil }
        return small.takeIfFree().map { fill($0, of: small, count, from: buffer) }
    }

    private func fill(
        _ slot: consuming MessageBuffers.Slot, of buffers: MessageBuffers, _ count: Int,
        from buffer: borrowing MessageBuffer
    ) -> Workers.Message {
        slot.buffer.move(count, from: buffer)
        slot.count = count
        return Workers.Message(slot: slot, buffers: buffers)
    }

    private func isNumeric(_ count: Int, in buffer: borrowing MessageBuffer) -> Bool {
        count <= Opcode.longestNumeric && Message(buffer.bytes(count))?.opcode?.isNumeric == true
    }

    private func serve(_ message: Workers.Message, _ lead: Lead) {
        lead.beginMoved(message.slot, of: message.buffers)
        serve(message.slot.count, in: message.slot.buffer, lead)
    }

    private func take(from buffers: MessageBuffers) -> MessageBuffers.Slot? {
        do throws(Errno) {
            return try buffers.take()
        } catch {
            FuseLog.write(.error, "no memory for a receive buffer: \(error)")
            return nil
        }
    }

    /// Whether serving a message may wait.
    private enum Waiting {
        case never, possible
        /// The file system says so if it does.
        case told
    }

    private func waiting(_ count: Int, in buffer: borrowing MessageBuffer) -> Waiting {
        guard let opcode = Message(buffer.bytes(count))?.opcode, opcode.mayWait else { return .never }
        return servesAtOnce && opcode.saysWhenItWaits ? .told : .possible
    }

    private func serve(_ count: Int, in buffer: borrowing MessageBuffer, _ lead: Lead) {
        // Refused messages contain secrets and names too.
        defer {
            lead.release()
            ProcessMemory.wipeRegisters()
        }
        guard let message = Message(buffer.bytes(count)) else { return }
        let opcode = message.opcode
        guard message.isWhole, opcode != .notifyReply else { return refuse(message.unique, opcode) }
        CurrentMessage.lockOwner = message.setattrLockOwner ?? 0
        var whole = unsafe fuse_buf()
        unsafe whole.mem = buffer.start
        unsafe whole.size = count
        unsafe fuse_session_process_buf(session.pointer, &whole)
    }

    /// Returns the length of the next message, or nil at the end. Only after a request was served it polls: an idle session costs
    /// nothing.
    private func receive(
        into buffer: borrowing MessageBuffer, _ stack: inout StackWipe.Member, polls mayPoll: Bool
    ) -> Int? {
        var wait = Wait(mayPoll: mayPoll)
        while unsafe fuse_session_exited(session.pointer) == 0 {
            stacks.wipeIfDue(&stack)
            var target = unsafe fuse_buf()
            unsafe target.mem = buffer.start
            let result = unsafe fuse_session_receive_buf(session.pointer, &target)
            if result > 0 {
                end(wait, hasCaught: true)
                return Int(result)
            }
            if result == 0 { return nil }
            guard result == -EAGAIN || result == -EINTR else {
                FuseLog.write(.error, "receiving failed: \(Errno(rawValue: -result))")
                return nil
            }
            pass(&wait)
        }
        return nil
    }

    // MARK: Waiting

    /// How a thread waits for the next message: it polls for a while if it may, then it sleeps.
    private struct Wait {
        var mayPoll: Bool
        var poll: PollHistory.Poll?
    }

    /// Lets a moment pass, or sleeps until there is something.
    private func pass(_ wait: inout Wait) {
        let now = Self.monotonicNanoseconds()
        if wait.mayPoll {
            wait.mayPoll = false
            wait.poll = polls.withLock { $0.begin(at: now) }
        }
        if let poll = wait.poll, now < poll.deadline {
            // The client may be waiting for this very CPU.
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

    /// Answers what libfuse must not see: it would read beyond the message.
    private func refuse(_ unique: UInt64, _ opcode: Opcode?) {
        FuseLog.write(.error, "a malformed message was refused")
        guard !(opcode?.isUnanswered ?? false) else { return }
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
