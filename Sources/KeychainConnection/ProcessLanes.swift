import Glibc
import Synchronization

/// What a process has open to a mount. A forked child has its parent's memory, but none of its threads: it starts anew,
/// without taking a lock that a thread of its parent may have held. So does a process when another mount takes the place of
/// one whose daemon is silent: its threads there may wait for ever.
final class ProcessLanes: Sendable {
    /// In milliseconds; see ``DaemonProbe``.
    static let timeout = 5_000
    /// Threads and descriptors that a mount can cost a process at most, stuck ones included.
    static let limit = 16

    let pool: RPCChannelPool
    let probe: DaemonProbe
    let timeout: Int
    /// Of those who ask again for want of locked memory.
    let turn = Mutex<Void>(())
    private let process = getpid()
    let mountPoint: @Sendable () -> String
    private let successor = AtomicLazyReference<ProcessLanes>()

    init(mountPoint: @escaping @Sendable () -> String, timeout: Int = ProcessLanes.timeout) {
        self.mountPoint = mountPoint
        self.timeout = timeout
        pool = RPCChannelPool(limit: Self.limit, mountPoint: mountPoint)
        probe = DaemonProbe(mountPoint: mountPoint, timeout: timeout)
    }

    /// Those of the process that asks, to the mount that is there.
    var current: ProcessLanes {
        var channels = self
        while let next = channels.next { channels = next }
        return channels
    }

    private var next: ProcessLanes? {
        if let successor = successor.load() { return successor }
        guard process != getpid() || probe.isOfAnotherMount else { return nil }
        return successor.storeIfNil(ProcessLanes(mountPoint: mountPoint, timeout: timeout))
    }
}
