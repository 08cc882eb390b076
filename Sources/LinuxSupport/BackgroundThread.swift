import Glibc
public import SystemPackage

/// A thread that nobody waits for, with every signal blocked: a program's handlers run on its own threads.
public enum BackgroundThread {
    public enum Stack: Sendable {
        /// 256 KiB: enough for system calls and little else.
        case small
        /// 2 MiB, whatever RLIMIT_STACK happens to be.
        case large
    }

    /// Runs `body` on a new thread. Throws EAGAIN when the system has none to give (pthread_create(3)).
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
