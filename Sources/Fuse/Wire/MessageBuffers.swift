import SystemPackage

/// A pool of buffers of one size, which are created as they are needed and reused.
///
/// The receiver needs a large one. So does a thread that serves a long message, until it releases it. A short message is moved to a
/// small buffer, one of numbers only to a plain one: many requests can wait, and four large buffers are enough.
final class MessageBuffers: Sendable {
    /// One that has been taken, and the length of the message in it. Passed from thread to thread, used by one at a time.
    struct Slot: Equatable, Sendable {
        fileprivate final class Memory: Sendable {
            let buffer: MessageBuffer

            init(size: Int) throws(Errno) { buffer = try MessageBuffer(size: size) }

            init(plainSize size: Int) { buffer = MessageBuffer(plainSize: size) }
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
    private let isPlain: Bool
    /// The number of free plain buffers that are kept.
    private static let plainKept = 64

    /// Locked memory, in at most `limit` buffers.
    init(size: Int, limit: Int) {
        self.size = size
        self.limit = limit
        isPlain = false
    }

    /// Plain memory, in any number of buffers.
    init(plainSize size: Int) {
        self.size = size
        limit = .max
        isPlain = true
    }

    /// Whether all of them are locked into memory.
    var areLocked: Bool { state.with { $0.areLocked } }

    /// Blocks until a buffer is free or can be created. Throws ENOMEM if none can be created at all.
    func take() throws(Errno) -> Slot {
        let found = state.wait { state -> Result<Slot, Errno>? in
            do throws(Errno) {
                return try free(&state).map { .success($0) }
            } catch {
                return state.made == 0 ? .failure(error) : nil
            }
        }
        return try found.get()
    }

    /// A buffer that is free or can be created; nil if all are in use.
    func takeIfFree() -> Slot? { state.with { state in try? free(&state) } }

    private func free(_ state: inout State) throws(Errno) -> Slot? {
        if let memory = state.free.popLast() { return Slot(memory: memory) }
        if isPlain { return Slot(memory: Slot.Memory(plainSize: size)) }
        guard state.made < limit else { return nil }
        let memory = try Slot.Memory(size: size)
        state.made += 1
        state.areLocked = state.areLocked && memory.buffer.isLocked
        return Slot(memory: memory)
    }

    /// Returns a buffer. Its memory must have been wiped.
    func giveBack(_ slot: Slot) {
        state.with { state in
            if !isPlain || state.free.count < Self.plainKept { state.free.append(slot.memory) }
        }
        state.wakeOne()
    }
}
