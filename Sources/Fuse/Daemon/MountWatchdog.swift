import Glibc
import LinuxSupport
import SystemPackage

/// A small process that unmounts on request of its daemon, and after the daemon has died.
///
/// Started before keys exist; it only has two pipes and a path. The daemon's end of the first pipe closes with the
/// daemon, regardless of how it dies. (libfuse's auto_unmount has no effect for users without allow_other.)
public struct MountWatchdog: ~Copyable, Sendable {
    /// The watchdog's descriptor of the pipe for ``WatchdogMessage``.
    public static let messageDescriptor: Int32 = 3
    /// The watchdog's descriptor of the pipe for ``WatchdogReply``.
    public static let replyDescriptor: Int32 = 4

    let connection: WatchdogConnection
    private let child: ChildProcess

    /// Starts this program (`/proc/self/exe`) with `arguments`, with which it must run a ``WatchdogProcess``.
    public static func start(arguments: [String]) throws(FuseError) -> MountWatchdog {
        try start(ChildProcess.ownProgram, arguments: arguments)
    }

    static func start(_ executable: String, arguments: [String]) throws(FuseError) -> MountWatchdog {
        do throws(Errno) {
            var messages = try Pipe()
            var replies = try Pipe()
            let child = try ChildProcess(
                .init(
                    executable: executable, arguments: arguments,
                    descriptors: [messageDescriptor: messages.readEnd, replyDescriptor: replies.writeEnd],
                    hasOwnSession: true))
            let connection = WatchdogConnection(
                messages: messages.takeWriteEnd(), replies: replies.takeReadEnd(),
                watchdogID: child.identifier)
            return MountWatchdog(connection: connection, child: child)
        } catch {
            throw .system(error, call: "posix_spawn")
        }
    }

    private init(connection: WatchdogConnection, child: ChildProcess) {
        self.connection = connection
        self.child = child
    }

    /// Stops the watchdog after an unmount. Returns when its process has exited.
    public consuming func stop() {
        connection.send(.shutdown)
        child.terminate(afterMilliseconds: Self.timeout)
    }

    /// The timeout in milliseconds. A stopped watchdog does not exit.
    private static let timeout = 2000

    /// Names the mount to the watchdog by its ID in /proc/self/mountinfo, which stays the same when the mount is moved.
    public func setMountID(mount identifier: Int) { connection.send(.mount(identifier)) }
}
