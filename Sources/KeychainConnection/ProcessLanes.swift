import Glibc
import Synchronization

/// The channels of a process to a mount.
///
/// A forked child inherits its parent's memory, but not its threads, so it creates new channels without acquiring a
/// mutex that a thread of its parent may have held. A process also creates new channels when another mount replaces one
/// whose daemon does not respond, because the threads there may block forever.
final class ProcessLanes: Sendable {
    /// Milliseconds; see ``DaemonProbe``.
    static let timeout = 5_000
    /// The maximum number of threads and descriptors per mount, including blocked ones.
    static let limit = 16

    let pool: RPCChannelPool
    let probe: DaemonProbe
    let timeout: Int
    /// Serializes the repeated requests of callers that found no locked memory.
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

    /// The channels of the calling process to the current mount.
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
