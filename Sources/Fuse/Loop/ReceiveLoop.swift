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
    private let small = MessageBuffers(size: MessageBuffer.shortSize, limit: Workers.most)

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
        let lead = Lead(workers)
        Lead.ofThisThread = lead
        loop: while true {
            switch workers.park(tidying: { stacks.wipeIfDue(&stack) }) {
            case .lead:
                lead.hold()
                guard receiveAndServe(lead, workers, &stack) else {
                    workers.end()
                    break loop
                }
            case .serve(let slot): serveShort(slot)
            case .end: break loop
            }
        }
        Lead.ofThisThread = nil
        stacks.leave(stack)
    }

    /// Receives and serves until the lead has been passed on; false when the session has ended.
    private func receiveAndServe(_ lead: Lead, _ workers: Workers, _ stack: inout StackWipe.Member) -> Bool {
        guard let slot = take(from: large) else { return false }
        var hasServed = false
        while let count = receive(into: slot.buffer, &stack, polls: hasServed) {
            hasServed = true
            let waiting = waiting(count, in: slot.buffer)
            if waiting != .never, count <= MessageBuffer.shortSize, let short = move(count, from: slot.buffer) {
                if waiting == .possible, workers.delegate(short) { continue }
                let isLeader = lead.sparing(slot, of: large) {
                    if waiting == .possible { lead.pass() }
                    serveShort(short)
                }
                guard isLeader else { return true }
            } else {
                if waiting == .possible { lead.pass() }
                serve(count, in: slot.buffer)
                guard !lead.isHeld else { continue }
                large.giveBack(slot)
                return true
            }
        }
        return false
    }

    /// Takes a message out of the buffer that whoever receives next needs.
    private func move(_ count: Int, from buffer: borrowing MessageBuffer) -> MessageBuffers.Slot? {
        guard var slot = take(from: small) else { return nil }
        slot.buffer.move(count, from: buffer)
        slot.count = count
        return slot
    }

    private func serveShort(_ slot: MessageBuffers.Slot) {
        serve(slot.count, in: slot.buffer)
        small.giveBack(slot)
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

    private func serve(_ count: Int, in buffer: borrowing MessageBuffer) {
        // Contents, and names as well; also of what is refused.
        defer {
            buffer.wipe(count)
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
