import Fuse
import Glibc
import LinuxSupport
import Logging
import Synchronization
import SystemPackage

/// The reaction of a daemon to SIGINT, SIGTERM and SIGHUP, during its lifetime.
///
/// Before the mount there is nothing to unmount and no staged value: a signal ends the process, even while a disk does
/// not respond. After it, a signal locks and unmounts.
final class EndingSignals: Sendable {
    /// The end of the mount. Locked during the mount, so that a signal finds either no mount or one that can be removed.
    private let ending = Mutex<MountEnding?>(nil)
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
            mountEnding(orExitWith: number).begin()
        }
    }

    /// Runs `mount`. From then on, signals end the mount with `ending`.
    func mount(_ ending: MountEnding, _ mount: () throws(FuseError) -> Void) throws(FuseError) {
        try self.ending.withLock { (mounted) throws(FuseError) in
            try mount()
            mounted = ending
        }
    }

    /// Ends the process with the status that a shell reports for a signal, if nothing is mounted.
    private func mountEnding(orExitWith signal: Int32) -> MountEnding {
        ending.withLock { mounted in
            guard let mounted else { _exit(128 + signal) }
            return mounted
        }
    }
}
