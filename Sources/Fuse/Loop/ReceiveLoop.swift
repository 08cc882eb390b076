import CFuse3
import Glibc
import Synchronization
import SystemPackage

/// Receives messages into buffers of our own and has libfuse take them apart.
final class ReceiveLoop: Sendable {
    private let session: SessionHandle
    private let channel: Channel
    private let polls: Mutex<PollHistory>
    private let transfersAtOnce: Bool
    private let stacks: StackWipe
    /// Whether every buffer so far could be locked into memory.
    let buffersAreLocked = Atomic(true)

    init(_ session: SessionHandle, _ channel: Channel, _ options: SessionOptions, _ stacks: StackWipe) {
        self.stacks = stacks
        self.session = session
        self.channel = channel
        polls = Mutex(PollHistory(duration: UInt64(min(max(options.pollMicroseconds, 0), 1000)) * 1000))
        transfersAtOnce = options.transfersAtOnce
    }

    /// What each worker runs, until the session ends.
    func work(_ workers: Workers) {
        let buffer: MessageBuffer
        do throws(Errno) {
            buffer = try MessageBuffer()
        } catch {
            FuseLog.write(.error, "no memory for a receive buffer: \(error)")
            // With no other thread nobody would ever receive.
            return workers.endIfAlone()
        }
        if !buffer.isLocked { buffersAreLocked.store(false, ordering: .relaxed) }
        var stack = stacks.join()
        let lead = Lead(workers)
        Lead.ofThisThread = lead
        while lead.take(tidying: { stacks.wipeIfDue(&stack) }) {
            guard receive(lead, buffer, &stack) else {
                workers.end()
                break
            }
        }
        Lead.ofThisThread = nil
        stacks.leave(stack)
    }

    /// Receives and serves until the lead has been passed on; false when the session has ended.
    private func receive(_ lead: Lead, _ buffer: borrowing MessageBuffer, _ stack: inout StackWipe.Member) -> Bool {
        var hasServed = false
        while let count = receive(into: buffer, &stack, polls: hasServed) {
            serve(count, in: buffer, lead)
            if !lead.isHeld { return true }
            hasServed = true
        }
        return false
    }

    private func serve(_ count: Int, in buffer: borrowing MessageBuffer, _ lead: Lead) {
        // Contents, and names as well; also of what is refused.
        defer {
            buffer.wipe(count)
            ProcessMemory.wipeRegisters()
        }
        guard let message = Message(buffer.bytes(count)) else { return }
        let opcode = message.opcode
        guard message.isWhole, opcode != .notifyReply else { return refuse(message.unique, opcode) }
        CurrentMessage.lockOwner = message.setattrLockOwner ?? 0
        if let opcode, opcode.mayWait, !(transfersAtOnce && (opcode == .read || opcode == .write)) { lead.pass() }
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
