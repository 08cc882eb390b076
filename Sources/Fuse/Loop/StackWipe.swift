import Synchronization

/// Causes every worker to overwrite the remains of finished calls on its stack: names, keys and plaintext in unused
/// frames.
///
/// A worker checks for it between two requests. Idle workers are woken; busy ones wipe after their request.
final class StackWipe: Sendable {
    /// A worker. Modified by its own thread only.
    final class Member: Sendable {
        /// The last round that it has completed.
        fileprivate let round: Atomic<UInt64>
        private let isServing = Atomic<Bool>(false)

        fileprivate init(round: UInt64) { self.round = Atomic(round) }

        /// Whether it serves a request, which may wait for a disk.
        var isBusy: Bool {
            get { isServing.load(ordering: .acquiring) }
            set { isServing.store(newValue, ordering: .releasing) }
        }
    }

    /// The limits in milliseconds of the wait for all workers, and for idle ones, which a machine under load may not
    /// run earlier.
    private static let limits = (all: 20, idle: 200)
    /// The interval in milliseconds at which it is checked who is busy.
    private static let interval = 10

    private let round = Atomic<UInt64>(0)
    private let members = Monitor<[Member]>([])

    /// Registers a new worker, whose stack is clean.
    func join() -> Member {
        members.with { members in
            let member = Member(round: round.load(ordering: .acquiring))
            members.append(member)
            return member
        }
    }

    /// Removes a worker that exits and wipes its stack, which the C library reuses for another thread
    /// (`allocatestack.c` of glibc).
    func leave(_ member: Member) {
        ProcessMemory.wipeStack()
        members.with(wakesAll: true) { $0.removeAll { $0 === member } }
    }

    /// Wipes the calling worker's stack if that has been requested since its last wipe. Called between two requests.
    func wipeIfDue(_ member: Member) {
        let wanted = round.load(ordering: .acquiring)
        guard member.round.load(ordering: .relaxed) != wanted else { return }
        ProcessMemory.wipeStack()
        members.with(wakesAll: true) { _ in member.round.store(wanted, ordering: .releasing) }
    }

    /// Requests a wipe of all workers, wakes them with `wake`, and waits until all idle ones have completed it. Wipes
    /// the caller's stack, too.
    func run(wake: () -> Void) {
        let wanted = round.add(1, ordering: .acquiringAndReleasing).newValue
        wake()
        for waited in stride(from: 0, to: Self.limits.idle, by: Self.interval) {
            let isComplete = members.wait(milliseconds: Self.interval) { members -> Bool? in
                let isComplete = members.allSatisfy { member in
                    member.round.load(ordering: .acquiring) >= wanted || waited >= Self.limits.all && member.isBusy
                }
                return isComplete ? true : nil
            }
            if isComplete == true { break }
        }
        ProcessMemory.wipeStack()
    }
}
