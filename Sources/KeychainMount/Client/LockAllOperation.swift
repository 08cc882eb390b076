import LinuxSupport
import Synchronization

/// `keychainfs lock --all`: locks each keychain that the calling user has mounted, all at the same time.
///
/// A keychain whose daemon has ended, or that is unmounted in the meantime, has no keys in memory and counts as locked.
package struct LockAllOperation: Sendable {
    private let showMessage: @Sendable (String) -> Void

    /// - Parameter showMessage: Called with the failures that are not thrown.
    package init(showMessage: @escaping @Sendable (String) -> Void) {
        self.showMessage = showMessage
    }

    /// - Throws: After all locks: the failure of a daemon that does not respond, otherwise another failure.
    package func run() throws(CLIError) {
        let failures = Failures()
        guard let table = try? MountTable.current() else {
            throw CLIError(.failure, "The mounts cannot be read: keychains may still be unlocked.")
        }
        let locks = MountedKeychains.ofCaller(in: table).map { views in
            { @Sendable in failures.append(Self.lock(views, in: table)) }
        }
        let threads = locks.map { try? BackgroundThread(stack: .large, $0) }
        // Without further threads one after another, while the others run.
        for (lock, thread) in zip(locks, threads) where thread == nil { lock() }
        for thread in threads { thread?.join() }
        try report(failures.all)
    }

    private func report(_ failures: [CLIError]) throws(CLIError) {
        guard let last = failures.firstIndex(where: { $0.exitCode == .noAnswer }) ?? failures.indices.last else {
            return
        }
        for index in failures.indices where index != last { showMessage(failures[index].message) }
        throw failures[last]
    }

    /// Locks a keychain through one of its views; nil if it is locked.
    private static func lock(_ views: [MountTable.Entry], in table: MountTable) -> CLIError? {
        var failure = unreachable(views)
        for view in views where table.mount(at: view.path) == view {
            do throws(CLIError) {
                try MountClient(mountPoint: view.path).lock()
                return nil
            } catch  where error.exitCode == .notMounted {
                if MountClient(mountPoint: view.path).hasDaemonEnded { return nil }
            } catch {
                failure = error
                break
            }
        }
        return isUnmounted(views[0]) ? nil : failure
    }

    private static func isUnmounted(_ mount: MountTable.Entry) -> Bool {
        guard let table = try? MountTable.current() else { return false }
        return !table.entries.contains { $0.device == mount.device && $0.type == mount.type }
    }

    private static func unreachable(_ views: [MountTable.Entry]) -> CLIError {
        CLIError(
            .failure,
            """
            \(views[0].path) cannot be reached, because another file system is mounted over it: its keychain may still be unlocked. \
            Unmount what is over it, and lock it again.
            """)
    }

    private final class Failures: Sendable {
        private let errors = Mutex<[CLIError]>([])

        var all: [CLIError] { errors.withLock(\.self) }

        func append(_ error: CLIError?) {
            if let error { errors.withLock { $0.append(error) } }
        }
    }
}
