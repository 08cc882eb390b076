import LinuxSupport
import SecretCrypto
import SystemPackage

/// Observes whether the daemon's mount still exists in its mount namespace.
///
/// Other views of the file system, such as bind mounts, other mount namespaces and open descriptors, keep the connection to the
/// kernel: without this, secrets would stay readable there, and no command could find the daemon to lock it. The mount is
/// identified by its ID in /proc/self/mountinfo, which it keeps when it is moved and which no other view has, and by its device.
struct MountWatch {
    /// The shortest time between two reads of the table, because some machines mount very often.
    private static let interval = Duration.milliseconds(50)
    /// The longest time between two reads.
    private static let longestInterval = Duration.milliseconds(400)
    /// The time between two reads, as a multiple of the duration of one.
    private static let idleFactor = 20

    private let table: MountTableFile
    private let hasEnded = Monitor(false)

    /// Starts a thread that calls `onEnd` once when the mount no longer exists.
    ///
    /// - Throws: The errors of opening the table; EAGAIN if the system cannot create a thread.
    init(_ mount: MountTable.Entry, onEnd: @escaping @Sendable () -> Void) throws(Errno) {
        let table = try MountTableFile()
        self.table = table
        let presence = MountPresence(mount, in: try table.contents())
        try BackgroundThread.start(stack: .large) { [hasEnded] in
            if Self.observe(table, presence) { onEnd() }
            hasEnded.withLockAndSignal { $0 = true }
        }
    }

    /// Ends the observation. Returns when `onEnd` no longer runs.
    func stop() {
        table.cancel()
        _ = hasEnded.wait(seconds: nil) { $0 ? true : nil }
    }

    /// Returns true when the mount no longer exists, false after ``stop()``.
    private static func observe(_ table: MountTableFile, _ presence: MountPresence) -> Bool {
        while true {
            let start = ContinuousClock.now
            let isMissing = isMissing(presence, table)
            // The table may lack a mount for a short time.
            if isMissing == true, table.pause(for: interval), Self.isMissing(presence, table) == true { return true }
            let pause = min(max((ContinuousClock.now - start) * idleFactor, interval), longestInterval)
            guard table.pause(for: pause) else { return false }
            // A table that could not be read is read again without a further change.
            if isMissing == false, !table.waitForChange() { return false }
        }
    }

    /// Returns nil if the table cannot be read.
    private static func isMissing(_ presence: MountPresence, _ table: MountTableFile) -> Bool? {
        (try? table.contents()).map(presence.isMissing)
    }
}
