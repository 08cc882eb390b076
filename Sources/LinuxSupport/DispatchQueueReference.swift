import CLinuxSupport

/// A reference to a Dispatch queue that a library has created and does not expose. The queue is freed after its last
/// reference.
@safe public final class DispatchQueueReference: Sendable {
    // Only retained and released here, which Dispatch allows on any thread; its C type does not state that.
    private nonisolated(unsafe) let queue: UnsafeMutableRawPointer

    /// Returns the queue that runs the caller; nil outside of a queue.
    public static func current() -> DispatchQueueReference? {
        guard let queue = unsafe dispatch_queue_retain_current() else { return nil }
        return unsafe DispatchQueueReference(queue)
    }

    private init(_ queue: UnsafeMutableRawPointer) { unsafe self.queue = queue }

    deinit { unsafe dispatch_queue_release(queue) }
}
