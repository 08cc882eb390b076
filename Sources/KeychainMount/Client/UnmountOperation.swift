import Foundation
import Fuse
import LinuxSupport

/// `keychainfs unmount`: unmounts a keychain and waits for the end of its daemon, which locks and ends when its mount is removed. A
/// refused unmount has changed nothing.
package struct UnmountOperation: Sendable {
    private let mountPoint: String
    private let showMessage: @Sendable (String) -> Void
    /// The time until a mount that is in use is refused: longer than a client keeps an idle descriptor. Without a visible user, a close
    /// or another access is in progress, and then as long as a commit may take.
    private static let limits = (withUsers: Duration.seconds(1), withAccesses: Duration.seconds(5))

    /// - Parameter showMessage: Called with messages about other views of the mount.
    package init(mountPoint: String, showMessage: @escaping @Sendable (String) -> Void) {
        self.mountPoint = mountPoint
        self.showMessage = showMessage
    }

    package func run() throws(CLIError) {
        guard MountedKeychains.isMounted(at: mountPoint) else { throw notMounted }
        let status: StatusReport
        do throws(CLIError) {
            status = try MountClient(mountPoint: mountPoint).status()
        } catch  where error.exitCode == .notMounted {
            // Checked afterwards, because a daemon that does not respond would block the check.
            guard (try? StaleMount.clean(at: mountPoint, type: MountedKeychains.type)) == true else { throw error }
            return
        }
        let views = MountViews(of: mountPoint)
        try unmount()
        guard views?.isMount(of: status.mountID, at: status.mountpoint) ?? true else {
            return reportRemaining(status)
        }
        try DaemonEnd(of: status.pid).wait(unmounted: mountPoint, showMessage)
        for path in views?.remaining ?? [] {
            showMessage(
                """
                \(path) showed the same keychain, and fails with 'Transport endpoint is not connected' now. Unmount it with \
                'umount \(ShellWord.quoted(path))'.
                """)
        }
    }

    /// Reports the mount that remains after the removal of another view of it.
    private func reportRemaining(_ status: StatusReport) {
        let visible = status.mountID.flatMap { (try? MountTable.current())?.mount(identifier: $0)?.path }
        let place = visible ?? "\(status.mountpoint), in another mount namespace"
        showMessage(
            """
            \(mountPoint) was another view (a bind mount, or a copy in a mount namespace) of the keychain, which stays mounted at \
            \(place).
            """)
    }

    private func unmount() throws(CLIError) {
        // The working directory of the command itself must not keep the mount.
        _ = FileManager.default.changeCurrentDirectoryPath("/")
        let start = ContinuousClock.now
        if try unmount(until: start + Self.limits.withUsers) { return }
        let obstacle = obstacle
        if obstacle == nil, try unmount(until: start + Self.limits.withAccesses) { return }
        throw CLIError(.inUse, "\(mountPoint) is in use\(obstacle ?? self.obstacle ?? Self.hiddenObstacle)")
    }

    /// Unmounts; returns false if the mount is in use until the deadline.
    private func unmount(until deadline: ContinuousClock.Instant) throws(CLIError) -> Bool {
        while true {
            do throws(FuseError) {
                try Session.unmount(at: mountPoint)
                return true
            } catch .busy {
                guard ContinuousClock.now < deadline else { return false }
                Thread.sleep(forTimeInterval: 0.05)
            } catch .notMounted {
                throw notMounted
            } catch {
                throw CLIError(.failure, "\(mountPoint) cannot be unmounted: \(error).")
            }
        }
    }

    /// The end of a sentence about what uses the mount; nil if that is not visible.
    private var obstacle: String? {
        guard let table = try? MountTable.current(), let mount = table.mount(at: mountPoint) else { return nil }
        if !table.mounts(in: mount).isEmpty {
            return
                ": another file system is mounted in it ('findmnt -R \(ShellWord.quoted(mountPoint))'). Unmount that first."
        }
        return MountUsers(of: mount).text().map { users in
            " by \(users): a program has a file or its working directory there. Close it first."
        }
    }

    private static let hiddenObstacle = """
        : a close or another access is still in progress, and may wait for a disk, or a process that is not visible to you has a file \
        open. Nothing has been changed. Try again later.
        """

    private var notMounted: CLIError {
        CLIError(.notMounted, "No keychain is mounted at \(mountPoint).")
    }
}
