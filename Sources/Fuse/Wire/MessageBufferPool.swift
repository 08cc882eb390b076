import SystemPackage

/// A pool of buffers of one size, which are created when they are needed and reused.
///
/// The receiver needs a large buffer, and so does a thread that serves a long message, until it releases it. A short
/// message is moved to a small buffer, a message without names and data to a plain one. Four large buffers are
/// sufficient; of the others there are as many as requests block.
final class MessageBufferPool: Sendable {
    /// A buffer that has been acquired, and the length of the message in it. May pass between threads, one of which
    /// uses it at a time.
    struct Lease: Equatable, Sendable {
        fileprivate final class Memory: Sendable {
            let buffer: MessageBuffer

            init(size: Int) throws(Errno) { buffer = try MessageBuffer(size: size) }

            init(plainSize size: Int) { buffer = MessageBuffer(plainSize: size) }
        }

        fileprivate let memory: Memory
        var count = 0

        static func == (one: Lease, other: Lease) -> Bool { one.memory === other.memory }

        var buffer: MessageBuffer {
            _read { yield memory.buffer }
        }
    }

    private struct State {
        var free: [Lease.Memory] = []
        /// The number of all buffers, and of those that are not locked in memory.
        var created = 0
        var unlocked = 0
    }

    private let state = Monitor(State())
    private let size: Int
    private let limit: Int
    private let kept: Int
    private let isPlain: Bool

    /// Creates a pool of buffers in locked memory, as far as RLIMIT_MEMLOCK permits.
    ///
    /// - Parameters:
    ///   - size: The size of a buffer in bytes.
    ///   - limit: The maximum number of buffers.
    ///   - kept: The maximum number of free buffers that are retained for reuse.
    init(size: Int, limit: Int = .max, kept: Int = .max) {
        (self.size, self.limit, self.kept, isPlain) = (size, limit, kept, false)
    }

    /// Creates a pool of buffers in plain memory, without a limit.
    init(plainSize size: Int, kept: Int) {
        (self.size, limit, self.kept, isPlain) = (size, .max, kept, true)
    }

    /// Whether all buffers are locked in memory.
    var areLocked: Bool { state.with { $0.unlocked == 0 } }

    /// Acquires a buffer. Blocks while the limit is reached.
    ///
    /// - Throws: ENOMEM if no buffer exists and none can be created.
    func acquire() throws(Errno) -> Lease {
        let found = state.wait { state -> Result<Lease, Errno>? in
            do throws(Errno) {
                return try reuseOrCreate(&state).map { .success($0) }
            } catch {
                return state.created == 0 ? .failure(error) : nil
            }
        }
        return try found.get()
    }

    /// Acquires a buffer that is free or can be created; nil if the limit or memory does not permit it.
    func acquireIfFree() -> Lease? { state.with { state in try? reuseOrCreate(&state) } }

    private func reuseOrCreate(_ state: inout State) throws(Errno) -> Lease? {
        if let memory = state.free.popLast() { return Lease(memory: memory) }
        guard state.created < limit else { return nil }
        let memory = isPlain ? Lease.Memory(plainSize: size) : try Lease.Memory(size: size)
        state.created += 1
        if !memory.buffer.isLocked { state.unlocked += 1 }
        return Lease(memory: memory)
    }

    /// Returns a buffer, whose memory must have been wiped.
    func release(_ lease: Lease) {
        state.with { state in
            guard state.free.count < kept else {
                state.created -= 1
                if !lease.memory.buffer.isLocked { state.unlocked -= 1 }
                return
            }
            state.free.append(lease.memory)
        }
        state.wakeOne()
    }
}
