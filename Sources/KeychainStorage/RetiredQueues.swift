internal import Synchronization

/// Retains the Dispatch queues of recently closed databases, and of those that could not be opened.
///
/// Freeing a queue with queue-specific data, as GRDB's queues have, starts a thread of Dispatch. If the system does not
/// permit more threads, Dispatch retries indefinitely and the caller waits (`_dispatch_temporary_resource_shortage` in
/// libdispatch's queue.c). A process under such a limit must be able to report its error and exit.
final class RetiredQueues: Sendable {
    static let shared = RetiredQueues()

    /// The number of retained queues, more than a process closes while it exits.
    private static let limit = 8

    private let queues = Mutex<[any AnyObject & Sendable]>([])

    /// Retains `queue`, or its owner, until several others have been retained after it.
    func keep(_ queue: any AnyObject & Sendable) {
        let previous = queues.withLock { queues in
            defer { queues = [queue] + queues.prefix(Self.limit - 1) }
            return queues
        }
        // Frees the oldest queue after the mutex has been unlocked.
        withExtendedLifetime(previous) {}
    }
}
