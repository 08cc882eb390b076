import FileSystemCore
import Fuse
import Keychain
import KeychainTree
import LinuxSupport
import Logging
import SystemPackage

/// The thread that reseals every item when a rekey is requested or was interrupted (contract, L5).
struct RekeyWorker {
    let keychain: KeychainStore
    let host: SystemTreeHost
    let log: Logger

    /// Starts the thread, which runs until the keychain is closed.
    ///
    /// - Throws: EAGAIN if the system cannot create a thread.
    func start() throws(Errno) {
        try BackgroundThread.start(stack: .large) { [self] in
            keychain.rekeyInBackground(hasSpace: hasSpace, report: log, afterwards: ProcessMemory.wipeStack)
        }
    }

    /// Whether there is space, as for a commit: other users must still be able to delete items and truncate the log.
    private func hasSpace(for count: Int) -> Bool {
        do throws(Errno) {
            return try keychain.hasSpace(for: count, longest: TreeOptions.defaultValueLimit) { () throws(Errno) in
                try host.statistics().availableBytes
            }
        } catch {
            return true
        }
    }

    private func log(_ progress: RekeyProgress) {
        let counts: Logger.Metadata = ["items": "\(progress.done)", "of": "\(progress.total)"]
        switch progress.phase {
        case .finished where progress.left > 0:
            log.warning("rekey: items that do not open keep old keys", metadata: ["items": "\(progress.left)"])
        case .finished: log.info("rekey: every item is sealed under new keys", metadata: counts)
        case .waiting(.interactionNotAllowed): log.info("rekey: continues after the next unlock", metadata: counts)
        case .waiting(.notAvailable): break
        case .waiting(.rowsDiffer):
            log.warning("rekey: stopped, because rows differ; 'keychainfs rekey' continues it", metadata: counts)
        case .waiting(let error):
            log.warning(
                "rekey: stopped; it tries again", metadata: counts.merging(["errno": "\(error.errno.rawValue)"]) { $1 })
        case .idle, .running, .verifying, .onOtherDevice: break
        }
    }
}
