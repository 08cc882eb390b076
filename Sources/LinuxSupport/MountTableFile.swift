import Glibc
import Synchronization
public import SystemPackage

/// The table of the mounts that this process sees, kept open so that a thread can wait for its changes: `/proc/self/mountinfo`
/// reports POLLPRI after each one (proc_pid_mountinfo(5)). One thread at a time may wait.
public final class MountTableFile: Sendable {
    private let file: FileDescriptor
    private let timer: WakeupTimer
    private let isCancelled = Atomic(false)

    /// Opens the table.
    ///
    /// - Throws: ENOENT without /proc; EMFILE, ENFILE or ENOMEM.
    public init() throws(Errno) {
        timer = try WakeupTimer()
        file = try KernelFile.open("/proc/self/mountinfo")
    }

    deinit { try? file.close() }

    /// Reads the text of the table.
    ///
    /// - Throws: The errno of lseek(2) or read(2).
    public func contents() throws(Errno) -> [UInt8] {
        guard lseek(file.rawValue, 0, SEEK_SET) == 0 else { throw Errno(rawValue: errno) }
        return try KernelFile.contents(of: file)
    }

    /// Waits for a change since the last return, or for ``cancel()``. Returns false after ``cancel()``. May return early
    /// without a change.
    public func waitForChange() -> Bool {
        guard !isCancelled.load(ordering: .acquiring) else { return false }
        timer.wait(until: nil, orFor: Int16(POLLPRI), on: file.rawValue)
        return !isCancelled.load(ordering: .acquiring)
    }

    /// Waits for `duration`, or for ``cancel()``. Returns false after ``cancel()``.
    public func pause(for duration: Duration) -> Bool {
        let deadline = WakeupTimer.now + duration
        while !isCancelled.load(ordering: .acquiring) {
            guard WakeupTimer.now < deadline else { return true }
            timer.wait(until: deadline)
        }
        return false
    }

    /// Ends the present wait and all later ones, from any thread.
    public func cancel() {
        isCancelled.store(true, ordering: .releasing)
        timer.wake()
    }
}
