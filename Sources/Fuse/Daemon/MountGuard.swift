import CFuse3
import Glibc
import SystemPackage

/// A small process that unmounts when its daemon dies without having done so.
///
/// Started before there are keys; holds a pipe's read end and a path, no more. The daemon's end of the pipe closes with
/// the daemon, however it dies. (libfuse's auto_unmount does nothing for users without allow_other.)
public struct MountGuard: ~Copyable, Sendable {
    /// The descriptor on which the guard finds its pipe.
    public static let pipeDescriptor: Int32 = 3

    private let writeEnd: Int32
    private let child: ChildProcess

    /// Starts this same program (`/proc/self/exe`) with `arguments`, which must lead it to ``run(pipe:mountPoint:type:)``.
    public static func start(arguments: [String]) throws(FuseError) -> MountGuard {
        try start(ChildProcess.ownProgram, arguments: arguments)
    }

    static func start(_ executable: String, arguments: [String]) throws(FuseError) -> MountGuard {
        do throws(Errno) {
            var pipe = try Pipe()
            let child = try ChildProcess(
                .init(
                    executable: executable, arguments: arguments,
                    descriptors: [pipeDescriptor: pipe.readEnd], hasOwnSession: true))
            return MountGuard(writeEnd: pipe.takeWriteEnd(), child: child)
        } catch {
            throw .system(error, call: "posix_spawn")
        }
    }

    private init(writeEnd: Int32, child: ChildProcess) {
        self.writeEnd = writeEnd
        self.child = child
    }

    deinit { close(writeEnd) }

    /// Sends the guard home, because the mount is gone; returns when its process has ended.
    public consuming func dismiss() {
        // With SIGPIPE blocked or ignored, as in a daemon, a guard that is gone is no trouble.
        var goodbye: UInt8 = 1
        _ = unsafe write(writeEnd, &goodbye, 1)
        child.wait()
    }

    /// What the guard's process does, and nothing after it: waits for the daemon's goodbye or end.
    ///
    /// Without a goodbye unmounts the dead mount of `type` at `mountPoint`, trying for some seconds: the kernel ends the
    /// connection only when the last thread of the daemon is gone.
    public static func run(pipe: Int32, mountPoint: String, type: String) {
        for number in [SIGINT, SIGHUP, SIGTERM, SIGPIPE] { signal(number, SIG_IGN) }
        var goodbye: UInt8 = 0
        while true {
            let count = unsafe read(pipe, &goodbye, 1)
            if count > 0 { return }
            if count == 0 || errno != EINTR { break }
        }
        for _ in 0..<100 {
            if let cleaned = try? StaleMount.clean(at: mountPoint, type: type), cleaned { return }
            guard (try? MountTable.current())?.mount(at: mountPoint)?.type == type else { return }
            usleep(50_000)
        }
    }
}
