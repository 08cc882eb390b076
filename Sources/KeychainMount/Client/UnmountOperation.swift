import Foundation
import Fuse
import LinuxSupport

/// `keychainfs unmount`: unmounts a keychain and waits for the end of its daemon, which locks and ends when its mount is removed. A
/// refused unmount has changed nothing.
package struct UnmountOperation: Sendable {
    private let mountPoint: String
    private let showMessage: @Sendable (String) -> Void
    /// Longer than a client keeps an idle descriptor.
    private static let timeoutWithUsers: Duration = .seconds(1)

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
        do throws(FuseError) {
            try unmount()
        } catch .busy {
            throw inUse
        } catch .notMounted {
            throw notMounted
        } catch {
            throw CLIError(.failure, "\(mountPoint) cannot be unmounted: \(error).")
        }
        guard views?.isMount(of: status.mountID, at: status.mountpoint) ?? true else {
            return reportRemaining(status)
        }
        try DaemonEnd(of: status.pid).wait(unmounted: mountPoint, showMessage)
        for path in views?.remaining ?? [] {
            showMessage(
                """
                \(path) showed the same keychain, and fails with 'Transport endpoint is not connected' now. Remove it with \
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

    /// Unmounts. Retries briefly, because a program that uses the API closes its descriptor shortly after its last
    /// call.
    private func unmount() throws(FuseError) {
        let deadline = ContinuousClock.now + Self.timeoutWithUsers
        while true {
            do throws(FuseError) {
                return try Session.unmount(at: mountPoint)
            } catch .busy where ContinuousClock.now < deadline {
                Thread.sleep(forTimeInterval: 0.05)
            }
        }
    }

    private var inUse: CLIError {
        let path = (try? MountTable.current())?.mount(at: mountPoint)?.path ?? mountPoint
        let users = MountUsers(of: path).text.map { " by \($0)" } ?? ""
        return CLIError(
            .failure,
            "\(mountPoint) is in use\(users): a program has a file or its working directory there. Close it first.")
    }

    private var notMounted: CLIError {
        CLIError(.notMounted, "No keychain is mounted at \(mountPoint).")
    }
}
