import FileSystemCore
import Fuse
import KeychainTree
import SystemPackage

/// The system as a mounted tree sees it: other processes, and the disk that holds the store.
struct StoreHost: TreeHost {
    /// The directory of the store's file.
    let directory: String

    func isDyingOfSignal(_ processID: Int32) -> Bool {
        guard let status = ThreadStatus(threadID: processID) else { return false }
        return status.isExiting && status.endingSignal != 0
    }

    func statistics() throws(Errno) -> FileSystemStatistics {
        var statistics = try FileSystemStatistics(ofPath: directory)
        statistics.maximumNameLength = UInt64(EntryName.maximumLength)
        return statistics
    }

    func giveBackMemory() { ProcessMemory.giveBack() }
}
