import Glibc
public import SystemPackage

/// A POSIX thread with all signals blocked, so that signal handlers run on the program's other threads.
public struct BackgroundThread: Sendable {
    public enum Stack: Sendable {
        /// 256 KiB: for little more than system calls.
        case small
        /// 2 MiB, independent of RLIMIT_STACK.
        case large
    }

    private let handle: pthread_t

    /// Runs `body` on a new thread. The caller must call ``join()`` or ``detach()`` once.
    ///
    /// - Throws: EAGAIN if the system cannot create one (pthread_create(3)).
    public init(stack: Stack, _ body: @escaping @Sendable () -> Void) throws(Errno) {
        let start = unsafe Unmanaged.passRetained(Start(body))
        var blocked = sigset_t()
        var previous = sigset_t()
        unsafe sigfillset(&blocked)
        unsafe pthread_sigmask(SIG_BLOCK, &blocked, &previous)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setstacksize(&attributes, stack == .small ? 256 << 10 : 2 << 20)
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

    /// Runs `body` on a new, detached thread.
    ///
    /// - Throws: EAGAIN if the system cannot create one.
    public static func start(stack: Stack = .small, _ body: @escaping @Sendable () -> Void) throws(Errno) {
        try BackgroundThread(stack: stack, body).detach()
    }

    /// Whether this is the calling thread.
    public var isCurrent: Bool { pthread_equal(handle, pthread_self()) != 0 }

    /// Detaches the thread: its resources are released when it exits.
    public func detach() {
        pthread_detach(handle)
    }

    /// Waits for the exit of the thread.
    public func join() {
        pthread_join(handle, nil)
    }

    private final class Start: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
