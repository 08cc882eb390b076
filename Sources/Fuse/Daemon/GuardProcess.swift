import CFuse3
import Glibc
import LinuxSupport
import SystemPackage

/// What the process of a ``MountWatchdog`` does.
public struct GuardProcess: Sendable {
    private let messages: Int32
    private let replies: Int32
    private let mountPoint: String
    private let type: String
    /// The mount that the daemon named.
    private var watched: MountTable.Entry?

    /// - Parameters:
    ///   - messages: The descriptor of the pipe from the daemon.
    ///   - replies: That of the pipe to the daemon.
    ///   - type: As mountinfo shows it, `fuse.` and the subtype.
    public init(
        messages: Int32 = MountWatchdog.messageDescriptor, replies: Int32 = MountWatchdog.replyDescriptor,
        mountPoint: String,
        type: String
    ) {
        (self.messages, self.replies, self.mountPoint, self.type) = (messages, replies, mountPoint, type)
    }

    /// Waits for the daemon's shutdown message or end, and unmounts for it meanwhile: the daemon has renounced new privileges, so that
    /// fusermount3 gets none when the daemon starts it.
    ///
    /// Without that message ends the connection of the mount that it watches, or of a dead one of its type at the mount point, and
    /// unmounts it, trying for half a minute.
    public mutating func run() {
        for number in [SIGINT, SIGHUP, SIGTERM, SIGPIPE] { signal(number, SIG_IGN) }
        // When the daemon's first thread is gone the daemon is dying, though a thread that waits in the kernel keeps the pipe.
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
        case message(GuardMessage)
        case interrupted
        /// Nothing within the time limit.
        case silence
        case end
    }

    /// Waits `timeout` milliseconds, without a limit if that is negative.
    private func nextEvent(timeout: Int32) -> Event {
        var waiting = pollfd(fd: messages, events: Int16(POLLIN), revents: 0)
        let ready = unsafe poll(&waiting, 1, timeout)
        if ready == 0 { return .silence }
        var bytes = [UInt8](repeating: 0, count: GuardMessage.byteCount)
        guard ready > 0, case let count = unsafe read(messages, &bytes, bytes.count), count >= 0 else {
            return errno == EINTR ? .interrupted : .end
        }
        return count == 0 ? .end : .message(GuardMessage(bytes[..<count]))
    }

    /// On a thread: fusermount3 waits for a daemon that does not serve, and the daemon's end must be noticed meanwhile.
    private func unmount(lazily: Bool) {
        let guarding = self
        do throws(Errno) {
            try WorkerThread { guarding.reply(guarding.unmounted(lazily: lazily)) }.detach()
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
        let bytes = GuardReply.bytes(error)
        _ = unsafe write(replies, bytes, bytes.count)
    }

    /// The watched mount, wherever it is now. The kernel uses numbers again: a mount with its number may be another one.
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
            // No request to the mount: without the daemon it may never be answered.
            guard let mount = currentMount() else { return }
            ConnectionAbort.run(mount)
            try? Mount.unmount(mount.path, lazily: true)
            if currentMount() != nil { usleep(50_000) }
        }
    }
}
