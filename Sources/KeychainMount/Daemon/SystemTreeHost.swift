import FileSystemCore
import Fuse
import KeychainTree
import LinuxSupport
import SystemPackage

/// The system functions of a mounted tree: other processes, and the disk of the store.
struct SystemTreeHost: TreeHost {
    /// The directory of the store's file.
    let directory: String
    /// Returns freed memory to the system, soon.
    let trim: @Sendable () -> Void

    func isDyingOfSignal(_ processID: Int32) -> Bool {
        guard ThreadStatus.hasNoMemory(threadID: processID), let status = ThreadStatus(threadID: processID) else {
            return false
        }
        return status.isExiting && status.endingSignal != 0
    }

    func process(ofThread threadID: Int32) -> ProcessIdentity? {
        ThreadGroup(ofThread: threadID).map { ProcessIdentity(group: $0.id, startTime: $0.startTime) }
    }

    var uptime: Duration { WakeupTimer.now }

    func statistics() throws(Errno) -> FileSystemStatistics {
        var statistics = try FileSystemStatistics(ofPath: directory)
        statistics.maximumNameLength = UInt64(EntryName.maximumLength)
        return statistics
    }

    func trimMemory() { trim() }
}
