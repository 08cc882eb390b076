import Foundation
import Fuse
import LinuxSupport

/// `keychainfs unmount`: unmounts a keychain and waits for the exit of its daemon.
package struct UnmountOperation: Sendable {
    private let mountPoint: String
    /// The maximum time that a daemon needs for pending commits after the unmount.
    private static let timeout: Duration = .seconds(30)
    /// Longer than a client keeps an idle descriptor.
    private static let timeoutWithUsers: Duration = .seconds(1)

    package init(mountPoint: String) {
        self.mountPoint = mountPoint
    }

    package func run() throws(CLIError) {
        guard MountedKeychains.isMounted(at: mountPoint) else { throw notMounted }
        let daemon: Int32
        do throws(CLIError) {
            daemon = try MountClient(mountPoint: mountPoint).status().pid
        } catch  where error.exitCode == .notMounted {
            // Checked afterwards, because a daemon that does not respond would block the check.
            guard (try? StaleMount.clean(at: mountPoint, type: MountedKeychains.type)) == true else { throw error }
            return
        }
        let otherViews = otherViews()
        do throws(FuseError) {
            try unmount()
        } catch .busy {
            throw inUse
        } catch .notMounted {
            throw notMounted
        } catch {
            throw CLIError(.failure, "\(mountPoint) cannot be unmounted: \(error).")
        }
        if let view = mounted(of: otherViews) {
            throw CLIError(
                .failure,
                """
                \(mountPoint) was a second view (a bind mount) of \(view.path), which stays mounted: 'keychainfs unmount' \
                that.
                """)
        }
        try waitForEnd(of: daemon)
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

    /// Returns the other visible mounts of this keychain. Called before the unmount: afterwards the kernel assigns the
    /// device number to the next mount, which may be another keychain's.
    private func otherViews() -> [MountTable.Entry] {
        guard let table = try? MountTable.current(), let entry = table.mount(at: mountPoint) else { return [] }
        return table.otherViews(of: entry)
    }

    /// Returns the first of `views` that still exists.
    private func mounted(of views: [MountTable.Entry]) -> MountTable.Entry? {
        guard !views.isEmpty, let table = try? MountTable.current() else { return nil }
        return table.entries.first(where: views.contains)
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

    private func waitForEnd(of daemon: Int32) throws(CLIError) {
        let deadline = ContinuousClock.now + Self.timeout
        while FileManager.default.fileExists(atPath: "/proc/\(daemon)/stat"), !isZombie(daemon) {
            guard ContinuousClock.now < deadline else {
                throw CLIError(
                    .failure, "\(mountPoint) is unmounted, but its daemon (process \(daemon)) has not ended.")
            }
            Thread.sleep(forTimeInterval: 0.01)
        }
    }

    /// Whether a process has exited but its parent has not waited for it.
    private func isZombie(_ process: Int32) -> Bool {
        guard let line = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return true }
        return line.split(separator: ")").last?.hasPrefix(" Z") == true
    }
}
