/// The announcement that a thread makes before it waits for another request.
///
/// The thread may be the one that receives requests, and its message may occupy a buffer that others need. Handlers,
/// which have the request, call ``Request/willBlock()`` and ``Request/releaseMessage()`` instead.
public enum RequestWait {
    /// The effect of a wait on the calling thread. None on threads that serve no request.
    @TaskLocal public static var announce: @Sendable () -> Void = {}
}
