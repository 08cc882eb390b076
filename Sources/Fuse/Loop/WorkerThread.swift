import CFuse3
import Glibc
import SystemPackage

/// A POSIX thread with all signals blocked, because one dedicated thread receives them.
struct WorkerThread: Sendable {
    private let handle: pthread_t
    /// The stack size in bytes, independent of RLIMIT_STACK. Handlers and ``StackWipe`` must fit.
    private static let stackSize = 2 << 20

    /// Starts a thread.
    ///
    /// - Throws: EAGAIN if the system cannot create one.
    init(_ body: @escaping @Sendable () -> Void) throws(Errno) {
        let start = unsafe Unmanaged.passRetained(Start(body))
        var blocked = sigset_t()
        var previous = sigset_t()
        unsafe sigfillset(&blocked)
        unsafe pthread_sigmask(SIG_BLOCK, &blocked, &previous)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setstacksize(&attributes, Self.stackSize)
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, start.toOpaque())
        guard result == 0 else {
            unsafe start.release()
            throw Errno(rawValue: result)
        }
        handle = thread
    }

    /// Whether this is the calling thread.
    var isCurrent: Bool { pthread_equal(handle, pthread_self()) != 0 }

    /// Detaches the thread, instead of ``join()``.
    func detach() {
        pthread_detach(handle)
    }

    /// Waits for the exit of the thread. Must be called at most once.
    func join() {
        pthread_join(handle, nil)
    }

    private final class Start: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
