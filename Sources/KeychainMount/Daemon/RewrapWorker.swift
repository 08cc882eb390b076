import Fuse
import Keychain
import KeychainTree
import LinuxSupport
import Logging
import SystemPackage

/// The thread that rewraps items that were added while locked, after each unlock (contract, S3).
struct RewrapWorker {
    let keychain: KeychainStore
    let log: Logger

    /// Starts the thread, which runs until the keychain is closed.
    ///
    /// - Throws: EAGAIN if the system cannot create a thread.
    func start() throws(Errno) {
        try BackgroundThread.start(stack: .large) { [keychain, log] in
            keychain.rewrapInBackground(
                { count, error in Self.logOutcome(count, error, log) }, afterwards: ProcessMemory.wipeStack)
        }
    }

    private static func logOutcome(_ count: Int, _ error: KeychainFault?, _ log: Logger) {
        if count > 0 { log.info("items added while locked are sealed as all others", metadata: ["items": "\(count)"]) }
        switch error {
        case nil, .interactionNotAllowed, .notAvailable: break
        case let error?:
            log.warning(
                "items added while locked wait for the next unlock to be sealed as all others",
                metadata: ["errno": "\(error.errno.rawValue)"])
        }
    }
}
