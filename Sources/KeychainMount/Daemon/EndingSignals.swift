import Fuse
import Glibc
import LinuxSupport
import Logging
import Synchronization
import SystemPackage

/// The reaction of a daemon to SIGINT, SIGTERM and SIGHUP, during its lifetime.
///
/// Before the mount there is nothing to unmount and no staged value: a signal ends the process, even while a disk does
/// not respond. After it, a signal unmounts.
final class EndingSignals: Sendable {
    /// The mounted session. Locked during the mount, so that a signal finds either no mount or a session that can unmount it.
    private let session = Mutex<Session?>(nil)
    private let hasArrived = Atomic(false)
    private let log: Logger

    /// Whether a signal has ended the mount.
    var hasEnded: Bool { hasArrived.load(ordering: .acquiring) }

    init(log: Logger) { self.log = log }

    /// Starts the thread that waits for signals, which are blocked in all others.
    func start() throws(Errno) {
        try TerminationSignals.onReceive { [self] number in
            hasArrived.store(true, ordering: .releasing)
            log.notice("ending", metadata: ["signal": "\(number)"])
            ServiceNotification.stopping.send()
            Self.end(mountedSession(orExitWith: number))
        }
    }

    /// Runs `mount`, which mounts `session`. From then on, signals unmount the session.
    func mount(_ session: Session, _ mount: () throws(FuseError) -> Void) throws(FuseError) {
        try self.session.withLock { (mounted) throws(FuseError) in
            try mount()
            mounted = session
        }
    }

    /// Ends the process with the status that a shell reports for a signal, if nothing is mounted.
    private func mountedSession(orExitWith signal: Int32) -> Session {
        session.withLock { mounted in
            guard let mounted else { _exit(128 + signal) }
            return mounted
        }
    }

    /// Running commits are completed. A lazy unmount does not wait for open files.
    private static func end(_ session: Session) {
        do throws(FuseError) {
            try session.unmount()
        } catch .busy {
            try? session.unmount(lazily: true)
            session.exit()
        } catch {
            session.exit()
        }
    }
}
