import Foundation
import Fuse

/// `keychainfs unmount`: takes a mount away and waits until its daemon has ended.
package struct Unmounting: Sendable {
    private let mountPoint: String
    /// A daemon that has lost its mount has commits to finish, at most.
    private static let patience: Duration = .seconds(30)
    /// Longer than a client keeps a descriptor that it does not use.
    private static let patienceWithUsers: Duration = .seconds(1)

    package init(mountPoint: String) {
        self.mountPoint = mountPoint
    }

    package func run() throws(Failure) {
        guard let type = MountedKeychains.type(at: mountPoint) else { throw notMounted }
        // Of another type: a keychain's daemon answers, or it is none.
        let daemon: Int32
        do throws(Failure) {
            daemon = try MountClient(mountPoint: mountPoint).status().pid
        } catch  where error.exitCode == .notMounted && type == MountedKeychains.type {
            // Not before: a daemon that does not answer would hold that question up.
            guard (try? StaleMount.clean(at: mountPoint, type: type)) == true else { throw error }
            return
        }
        let connection = connection(at: mountPoint)
        do throws(FuseError) {
            try unmount()
        } catch .busy {
            throw inUse
        } catch .notMounted {
            throw notMounted
        } catch {
            throw Failure(.failure, "\(mountPoint) cannot be unmounted: \(error).")
        }
        if let connection, let other = place(of: connection) {
            throw Failure(
                .failure,
                "\(mountPoint) was a second view (a bind mount) of \(other), which stays mounted: 'keychainfs unmount' that."
            )
        }
        try waitForEnd(of: daemon)
    }

    /// A program that uses the API lets go of the mount a moment after its last call.
    private func unmount() throws(FuseError) {
        let deadline = ContinuousClock.now + Self.patienceWithUsers
        while true {
            do throws(FuseError) {
                return try Session.unmount(at: mountPoint)
            } catch .busy where ContinuousClock.now < deadline {
                Thread.sleep(forTimeInterval: 0.05)
            }
        }
    }

    /// The number by which the kernel knows the FUSE connection of a mount, wherever it is seen.
    private func connection(at path: String) -> Int? {
        (try? MountTable.current())?.mount(at: path)?.deviceMinor
    }

    /// Where else it is mounted, in the sight of this process.
    private func place(of connection: Int) -> String? {
        (try? MountTable.current())?.entries.first {
            $0.deviceMinor == connection && $0.type.hasPrefix("fuse.")
        }?.path
    }

    private var inUse: Failure {
        let path = (try? MountTable.current())?.mount(at: mountPoint)?.path ?? mountPoint
        let users = MountUsers(of: path).text.map { " by \($0)" } ?? ""
        return Failure(
            .failure,
            "\(mountPoint) is in use\(users): a program has a file or its working directory there. Close it first.")
    }

    private var notMounted: Failure {
        Failure(.notMounted, "No keychain is mounted at \(mountPoint).")
    }

    private func waitForEnd(of daemon: Int32) throws(Failure) {
        let deadline = ContinuousClock.now + Self.patience
        while FileManager.default.fileExists(atPath: "/proc/\(daemon)/stat"), !isZombie(daemon) {
            guard ContinuousClock.now < deadline else {
                throw Failure(.failure, "\(mountPoint) is unmounted, but its daemon (process \(daemon)) has not ended.")
            }
            Thread.sleep(forTimeInterval: 0.01)
        }
    }

    /// A daemon whose parent does not wait for it has ended all the same.
    private func isZombie(_ process: Int32) -> Bool {
        guard let line = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return true }
        return line.split(separator: ")").last?.hasPrefix(" Z") == true
    }
}
