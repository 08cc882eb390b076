import Glibc
import Synchronization

/// What a process has open to a mount. A forked child has its parent's memory, but none of its threads: it starts anew,
/// without taking a lock that a thread of its parent may have held. So does a process when another mount takes the place of
/// one whose daemon is silent: its threads there may wait for ever.
final class ProcessLanes: Sendable {
    /// In milliseconds; see ``Liveness``.
    static let patience = 5_000
    /// Threads and descriptors that a mount can cost a process at most, stuck ones included.
    static let limit = 16

    let pool: LanePool
    let liveness: Liveness
    let patience: Int
    /// Of those who ask again for want of locked memory.
    let turn = Mutex<Void>(())
    private let process = getpid()
    let mountPoint: @Sendable () -> String
    private let successor = AtomicLazyReference<ProcessLanes>()

    init(mountPoint: @escaping @Sendable () -> String, patience: Int = ProcessLanes.patience) {
        self.mountPoint = mountPoint
        self.patience = patience
        pool = LanePool(limit: Self.limit, mountPoint: mountPoint)
        liveness = Liveness(mountPoint: mountPoint, patience: patience)
    }

    /// Those of the process that asks, to the mount that is there.
    var current: ProcessLanes {
        var lanes = self
        while let next = lanes.next { lanes = next }
        return lanes
    }

    private var next: ProcessLanes? {
        if let successor = successor.load() { return successor }
        guard process != getpid() || liveness.isOfAnotherMount else { return nil }
        return successor.storeIfNil(ProcessLanes(mountPoint: mountPoint, patience: patience))
    }
}
