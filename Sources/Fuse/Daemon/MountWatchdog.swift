import Glibc
import SystemPackage

/// A small process that unmounts for its daemon, and when its daemon dies without having done so.
///
/// Started before there are keys; has two pipes and a path, no more. The daemon's end of the first pipe closes with
/// the daemon, however it dies. (libfuse's auto_unmount does nothing for users without allow_other.)
public struct MountWatchdog: ~Copyable, Sendable {
    /// The descriptor on which the guard finds the pipe of ``GuardMessage``.
    public static let messageDescriptor: Int32 = 3
    /// That of the pipe for ``GuardReply``.
    public static let replyDescriptor: Int32 = 4

    let connection: GuardConnection
    private let child: ChildProcess

    /// Starts this same program (`/proc/self/exe`) with `arguments`, with which it must run a ``GuardProcess``.
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
            let connection = GuardConnection(
                messages: messages.takeWriteEnd(), replies: replies.takeReadEnd(),
                guardID: child.identifier)
            return MountWatchdog(connection: connection, child: child)
        } catch {
            throw .system(error, call: "posix_spawn")
        }
    }

    private init(connection: GuardConnection, child: ChildProcess) {
        self.connection = connection
        self.child = child
    }

    /// Ends the guard, because the mount is gone; returns when its process has ended.
    public consuming func stop() {
        connection.send(.shutdown)
        child.terminate(afterMilliseconds: Self.timeout)
    }

    /// In milliseconds: a guard that was stopped does not end by itself.
    private static let timeout = 2000

    /// Names the mount to the guard by its number in /proc/self/mountinfo, by which it is found wherever it has been moved to.
    public func setMountID(mount identifier: Int) { connection.send(.mount(identifier)) }
}
