import CFuse3
import Glibc
import SystemPackage
import SystemServices

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
        child.end(afterMilliseconds: Self.patience)
    }

    /// In milliseconds: a guard that was stopped does not go by itself.
    private static let patience = 2000

    /// Tells the guard the number of the mount in /proc/self/mountinfo, by which it finds it wherever it has gone.
    public func watch(mount identifier: Int) {
        let number = UInt64(identifier)
        let bytes = [Self.mountCode] + (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
        _ = unsafe write(writeEnd, bytes, bytes.count)
    }

    private static let goodbyeCode: UInt8 = 1
    private static let mountCode: UInt8 = 2

    /// What the guard's process does, and nothing after it: waits for the daemon's goodbye or end.
    ///
    /// Without a goodbye ends the connection of the mount that it was told, or of a dead one of `type` at `mountPoint`, and
    /// unmounts it, trying for half a minute.
    public static func run(pipe: Int32, mountPoint: String, type: String) {
        for number in [SIGINT, SIGHUP, SIGTERM, SIGPIPE] { signal(number, SIG_IGN) }
        // When the daemon's first thread is gone the daemon is dying, though one that waits in the kernel keeps the pipe.
        signal(SIGUSR1) { _ in }
        cfuse3_signal_at_parents_end(SIGUSR1)
        var told: MountTable.Entry?
        var isDying = false
        while true {
            switch nextMessage(pipe, patience: isDying ? 2000 : -1) {
            case .goodbye: return
            case .mount(let number): told = (try? MountTable.current())?.mount(identifier: number)
            case .interrupted: isDying = true
            case .silence:
                if let mount = mount(told, type) { ConnectionAbort.run(mount) }
                return clean(told, mountPoint, type)
            case .end: return clean(told, mountPoint, type)
            }
        }
    }

    private enum Message {
        case goodbye
        case mount(Int)
        case interrupted
        /// Nothing for as long as one was willing to wait.
        case silence
        case end
    }

    /// Waits `patience` milliseconds, or for ever if that is negative.
    private static func nextMessage(_ pipe: Int32, patience: Int32) -> Message {
        var waiting = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
        let ready = unsafe poll(&waiting, 1, patience)
        if ready == 0 { return .silence }
        var bytes = [UInt8](repeating: 0, count: 9)
        guard ready > 0, case let count = unsafe read(pipe, &bytes, 9), count >= 0 else {
            return errno == EINTR ? .interrupted : .end
        }
        if count == 0 { return .end }
        guard bytes[0] == mountCode, count == 9 else { return .goodbye }
        return .mount(Int(truncatingIfNeeded: bytes[1...].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }))
    }

    /// The mount that the guard was told of, wherever it is now. The kernel gives numbers again: whatever else has its number
    /// is another one.
    private static func mount(_ told: MountTable.Entry?, _ type: String) -> MountTable.Entry? {
        guard let told, let mount = (try? MountTable.current())?.mount(identifier: told.identifier) else { return nil }
        return mount.type == type && mount.deviceMinor == told.deviceMinor && mount.source == told.source ? mount : nil
    }

    private static func clean(_ told: MountTable.Entry?, _ mountPoint: String, _ type: String) {
        for _ in 0..<600 {
            guard told != nil else {
                if let cleaned = try? StaleMount.clean(at: mountPoint, type: type), cleaned { return }
                guard (try? MountTable.current())?.mount(at: mountPoint)?.type == type else { return }
                usleep(50_000)
                continue
            }
            // No question to the mount: with the daemon gone nobody might answer it.
            guard let mount = mount(told, type) else { return }
            ConnectionAbort.run(mount)
            try? Mount.unmount(mount.path, lazily: true)
            if Self.mount(told, type) != nil { usleep(50_000) }
        }
    }
}
