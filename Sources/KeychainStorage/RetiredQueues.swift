internal import Synchronization

/// Keeps the Dispatch queues of the databases that were closed, or could not be opened, last.
///
/// Freeing a queue with queue-specific data, as GRDB's queues have, starts a thread of Dispatch. Where the system allows no more
/// threads, Dispatch retries indefinitely and the caller waits (`_dispatch_temporary_resource_shortage` in libdispatch's queue.c).
/// A process under such a limit has to report its error and to end.
final class RetiredQueues: Sendable {
    static let shared = RetiredQueues()

    /// More than a process closes while it ends.
    private static let limit = 8

    private let queues = Mutex<[any AnyObject & Sendable]>([])

    /// Keeps `queue`, or its owner, until several others were kept after it.
    func keep(_ queue: any AnyObject & Sendable) {
        let previous = queues.withLock { queues in
            defer { queues = [queue] + queues.prefix(Self.limit - 1) }
            return queues
        }
        // Frees the oldest after the lock was released.
        withExtendedLifetime(previous) {}
    }
}
