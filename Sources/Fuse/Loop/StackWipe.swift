import Synchronization

/// Causes every worker to overwrite the remains of finished calls on its stack: names, keys and plaintext in unused
/// frames.
///
/// A worker checks for it between two requests. Idle workers are woken; busy ones wipe after their request.
final class StackWipe: Sendable {
    /// The state of one worker.
    struct Member {
        fileprivate let number: Int
        fileprivate var round: UInt64
    }

    private struct State {
        var next = 0
        /// The last round that each worker has completed.
        var done: [Int: UInt64] = [:]
    }

    /// The maximum time to wait for busy workers in milliseconds.
    private static let timeout = 200

    private let round = Atomic<UInt64>(0)
    private let state = Monitor(State())

    /// Registers a new worker, whose stack is clean.
    func join() -> Member {
        let round = round.load(ordering: .acquiring)
        let number = state.with { state in
            state.next += 1
            state.done[state.next] = round
            return state.next
        }
        return Member(number: number, round: round)
    }

    /// Removes a worker that exits and wipes its stack, which the C library reuses for another thread
    /// (`allocatestack.c` of glibc).
    func leave(_ member: Member) {
        ProcessMemory.wipeStack()
        let number = member.number
        state.with(wakesAll: true) { $0.done[number] = nil }
    }

    /// Wipes the calling worker's stack if that has been requested since its last wipe. Called between two requests.
    func wipeIfDue(_ member: inout Member) {
        let wanted = round.load(ordering: .acquiring)
        guard member.round != wanted else { return }
        member.round = wanted
        ProcessMemory.wipeStack()
        let number = member.number
        state.with(wakesAll: true) { $0.done[number] = wanted }
    }

    /// Requests a wipe of all workers, wakes them with `wake`, and waits until all idle ones have completed it. Wipes
    /// the caller's stack, too.
    func run(wake: () -> Void) {
        let wanted = round.add(1, ordering: .acquiringAndReleasing).newValue
        wake()
        state.wait(milliseconds: Self.timeout) { state in
            state.done.values.allSatisfy { $0 >= wanted } ? () : nil
        }
        ProcessMemory.wipeStack()
    }
}
