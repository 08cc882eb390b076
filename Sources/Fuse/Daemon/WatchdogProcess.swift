import CFuse3
import Glibc
import LinuxSupport
import SystemPackage

/// The main function of a ``MountWatchdog`` process.
public struct WatchdogProcess: Sendable {
    private let messages: Int32
    private let replies: Int32
    private let mountPoint: String
    private let type: String
    /// The mount that the daemon has named.
    private var watched: MountTable.Entry?

    /// Creates the process's state.
    ///
    /// - Parameters:
    ///   - messages: The read end of the pipe from the daemon.
    ///   - replies: The write end of the pipe to the daemon.
    ///   - type: The type in mountinfo, `fuse.` and the subtype.
    public init(
        messages: Int32 = MountWatchdog.messageDescriptor, replies: Int32 = MountWatchdog.replyDescriptor,
        mountPoint: String,
        type: String
    ) {
        (self.messages, self.replies, self.mountPoint, self.type) = (messages, replies, mountPoint, type)
    }

    /// Waits for the daemon's shutdown message or exit, and unmounts on request: the daemon has renounced new
    /// privileges, so a fusermount3 that it started would lack them.
    ///
    /// If the daemon exits without a message, aborts the connection of the watched mount, or of a dead mount of its
    /// type at the mount point, and unmounts it. Retries for half a minute.
    public mutating func run() {
        for number in [SIGINT, SIGHUP, SIGTERM, SIGPIPE] { signal(number, SIG_IGN) }
        // The signal arrives when the daemon's first thread has exited: the daemon is dying, even if a thread that
        // waits in the kernel keeps the pipe open.
        signal(SIGUSR1) { _ in }
        cfuse3_signal_at_parents_end(SIGUSR1)
        var isDying = false
        while true {
            switch nextEvent(timeout: isDying ? 2000 : -1) {
            case .message(.shutdown): return
            case .message(.mount(let number)): watched = (try? MountTable.current())?.mount(identifier: number)
            case .message(.unmount(let lazily)): unmount(lazily: lazily)
            case .interrupted: isDying = true
            case .silence:
                if let mount = currentMount() { ConnectionAbort.run(mount) }
                return clean()
            case .end: return clean()
            }
        }
    }

    private enum Event {
        case message(WatchdogMessage)
        case interrupted
        /// No event before the timeout.
        case silence
        case end
    }

    /// Waits `timeout` milliseconds for an event; indefinitely if it is negative.
    private func nextEvent(timeout: Int32) -> Event {
        var waiting = pollfd(fd: messages, events: Int16(POLLIN), revents: 0)
        let ready = unsafe poll(&waiting, 1, timeout)
        if ready == 0 { return .silence }
        var bytes = [UInt8](repeating: 0, count: WatchdogMessage.byteCount)
        guard ready > 0, case let count = unsafe read(messages, &bytes, bytes.count), count >= 0 else {
            return errno == EINTR ? .interrupted : .end
        }
        return count == 0 ? .end : .message(WatchdogMessage(bytes[..<count]))
    }

    /// Unmounts on a separate thread: fusermount3 waits for a daemon that serves no requests, and the exit of the
    /// daemon must be detected during that time.
    private func unmount(lazily: Bool) {
        let watchdog = self
        do throws(Errno) {
            try BackgroundThread.start(stack: .large) { watchdog.reply(watchdog.unmounted(lazily: lazily)) }
        } catch {
            reply(.system(error, call: "pthread_create"))
        }
    }

    private func unmounted(lazily: Bool) -> FuseError? {
        guard let mount = currentMount() else { return .notMounted }
        do throws(FuseError) {
            try Mount.unmount(mount.path, lazily: lazily)
            return nil
        } catch {
            return error
        }
    }

    private func reply(_ error: FuseError?) {
        let bytes = WatchdogReply.bytes(error)
        _ = unsafe write(replies, bytes, bytes.count)
    }

    /// Returns the watched mount at its present path. The kernel reuses IDs, so another mount may have that ID.
    private func currentMount() -> MountTable.Entry? {
        guard let watched, let mount = (try? MountTable.current())?.mount(identifier: watched.identifier) else {
            return nil
        }
        return mount.type == type && mount.deviceMinor == watched.deviceMinor && mount.source == watched.source
            ? mount : nil
    }

    private func clean() {
        for _ in 0..<600 {
            guard watched != nil else {
                if let cleaned = try? StaleMount.clean(at: mountPoint, type: type), cleaned { return }
                guard (try? MountTable.current())?.mount(at: mountPoint)?.type == type else { return }
                usleep(50_000)
                continue
            }
            // Makes no request to the mount: without the daemon it may never be answered.
            guard let mount = currentMount() else { return }
            ConnectionAbort.run(mount)
            try? Mount.unmount(mount.path, lazily: true)
            if currentMount() != nil { usleep(50_000) }
        }
    }
}
