import SystemPackage

/// Buffers of one size, made as they are needed and kept for the next one who needs one.
///
/// Whoever receives needs a large one, and so does whoever serves a long message meanwhile; a short message that may wait is
/// served out of a small one: so many threads can serve at once, and few large buffers are enough.
final class MessageBuffers: Sendable {
    /// One that has been taken, and the length of the message in it. Passed from thread to thread, used by one at a time.
    struct Slot: Equatable, Sendable {
        fileprivate final class Memory: Sendable {
            let buffer: MessageBuffer

            init(size: Int) throws(Errno) { buffer = try MessageBuffer(size: size) }
        }

        fileprivate let memory: Memory
        var count = 0

        static func == (one: Slot, other: Slot) -> Bool { one.memory === other.memory }

        var buffer: MessageBuffer {
            _read { yield memory.buffer }
        }
    }

    private struct State {
        var free: [Slot.Memory] = []
        var made = 0
        var areLocked = true
    }

    private let state = Monitor(State())
    private let size: Int
    private let limit: Int

    /// Makes at most `limit` of them.
    init(size: Int, limit: Int) {
        self.size = size
        self.limit = limit
    }

    /// Whether all of them are locked into memory.
    var areLocked: Bool { state.with { $0.areLocked } }

    /// Waits until one is free, or can be made. Throws ENOMEM if there is none at all.
    func take() throws(Errno) -> Slot {
        let found = state.wait { state -> Result<Slot, Errno>? in
            if let memory = state.free.popLast() { return .success(Slot(memory: memory)) }
            guard state.made < limit else { return nil }
            do throws(Errno) {
                let memory = try Slot.Memory(size: size)
                state.made += 1
                state.areLocked = state.areLocked && memory.buffer.isLocked
                return .success(Slot(memory: memory))
            } catch {
                return state.made == 0 ? .failure(error) : nil
            }
        }
        return try found.get()
    }

    func giveBack(_ slot: Slot) {
        state.with { $0.free.append(slot.memory) }
        state.wakeOne()
    }
}
