import SystemPackage

/// A pool of buffers of one size, which are created as they are needed and reused.
///
/// The receiver needs a large one. So does a thread that serves a long message, until it releases it. A short message is moved to a
/// small buffer, a message of numbers only to a plain one. There are as many of these as requests wait, and four large ones are enough.
final class MessageBufferPool: Sendable {
    /// One that has been taken, and the length of the message in it. Passed from thread to thread, used by one at a time.
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
        /// All that exist, and those of them that are not locked into memory.
        var created = 0
        var unlocked = 0
    }

    private let state = Monitor(State())
    private let size: Int
    private let limit: Int
    private let kept: Int
    private let isPlain: Bool

    /// Locked memory, as far as RLIMIT_MEMLOCK allows.
    ///
    /// - Parameters:
    ///   - size: The size of a buffer in bytes.
    ///   - limit: The maximum number of buffers.
    ///   - kept: The maximum number of free buffers that stay for reuse.
    init(size: Int, limit: Int = .max, kept: Int = .max) {
        (self.size, self.limit, self.kept, isPlain) = (size, limit, kept, false)
    }

    /// Plain memory, in any number of buffers.
    init(plainSize size: Int, kept: Int) {
        (self.size, limit, self.kept, isPlain) = (size, .max, kept, true)
    }

    /// Whether all of them are locked into memory.
    var areLocked: Bool { state.with { $0.unlocked == 0 } }

    /// Blocks while the limit is reached. Throws ENOMEM if none can be created at all.
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

    /// A buffer that is free or can be created; nil if the limit or memory does not allow it.
    func acquireIfFree() -> Lease? { state.with { state in try? reuseOrCreate(&state) } }

    private func reuseOrCreate(_ state: inout State) throws(Errno) -> Lease? {
        if let memory = state.free.popLast() { return Lease(memory: memory) }
        guard state.created < limit else { return nil }
        let memory = isPlain ? Lease.Memory(plainSize: size) : try Lease.Memory(size: size)
        state.created += 1
        if !memory.buffer.isLocked { state.unlocked += 1 }
        return Lease(memory: memory)
    }

    /// Returns a buffer. Its memory must have been wiped.
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
