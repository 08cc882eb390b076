import Glibc
public import SystemPackage

/// A detached thread with all signals blocked, so that signal handlers run on the program's other threads.
public enum BackgroundThread {
    public enum Stack: Sendable {
        /// 256 KiB: for little more than system calls.
        case small
        /// 2 MiB, independent of RLIMIT_STACK.
        case large
    }

    /// Runs `body` on a new thread.
    ///
    /// - Throws: EAGAIN if the system cannot create one (pthread_create(3)).
    public static func start(stack: Stack = .small, _ body: @escaping @Sendable () -> Void) throws(Errno) {
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
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
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
    }

    private final class Start: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
