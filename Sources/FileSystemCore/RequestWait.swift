import Synchronization

/// The announcement that a thread makes before it waits for another request.
///
/// The thread may be the receiver of requests, and its message may occupy a buffer that others need. Handlers,
/// which have the request, call ``Request/willBlock()`` and ``Request/releaseMessage()`` instead.
public enum RequestWait {
    private static let observers = Mutex<[@Sendable () -> Void]>([])

    /// Adds a function that every thread calls before it waits. It remains for the rest of the process.
    public static func observe(_ observer: @escaping @Sendable () -> Void) {
        observers.withLock { $0.append(observer) }
    }

    /// Must be called on the thread that is about to wait.
    public static func announce() {
        for observer in observers.withLock({ $0 }) { observer() }
    }
}
