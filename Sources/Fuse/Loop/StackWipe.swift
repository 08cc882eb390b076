import Synchronization

/// Has every worker overwrite what finished calls have left on its stack: names, keys, plaintext in dead frames.
///
/// A worker looks for it between two requests. One that is idle is woken for it, one that is busy does it when it is done.
final class StackWipe: Sendable {
    /// One worker's part.
    struct Member {
        fileprivate let number: Int
        fileprivate var round: UInt64
    }

    private struct State {
        var next = 0
        /// The round that each worker has done last.
        var done: [Int: UInt64] = [:]
    }

    /// How long a wipe waits for workers that are busy.
    private static let timeout = 200

    private let round = Atomic<UInt64>(0)
    private let state = Monitor(State())

    /// A worker that begins; its stack is clean.
    func join() -> Member {
        let round = round.load(ordering: .acquiring)
        let number = state.with { state in
            state.next += 1
            state.done[state.next] = round
            return state.next
        }
        return Member(number: number, round: round)
    }

    /// A worker that ends: the C library keeps its stack for another thread (`allocatestack.c` of glibc).
    func leave(_ member: Member) {
        ProcessMemory.wipeStack()
        let number = member.number
        state.with(wakesAll: true) { $0.done[number] = nil }
    }

    /// Called by a worker between two requests: wipes if somebody has asked for it since.
    func wipeIfDue(_ member: inout Member) {
        let wanted = round.load(ordering: .acquiring)
        guard member.round != wanted else { return }
        member.round = wanted
        ProcessMemory.wipeStack()
        let number = member.number
        state.with(wakesAll: true) { $0.done[number] = wanted }
    }

    /// Asks all workers, wakes them with `wake`, and waits until all idle ones have done it; wipes the caller's too.
    func run(wake: () -> Void) {
        let wanted = round.add(1, ordering: .acquiringAndReleasing).newValue
        wake()
        state.wait(milliseconds: Self.timeout) { state in
            state.done.values.allSatisfy { $0 >= wanted } ? () : nil
        }
        ProcessMemory.wipeStack()
    }
}
