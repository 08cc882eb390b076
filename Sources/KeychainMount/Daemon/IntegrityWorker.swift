import Keychain
import Logging
import SystemPackage
import SystemServices

/// The thread that verifies a keychain's rows after the first unlock, and tells the log (contract, S2). No names: the
/// log is readable by others.
struct IntegrityWorker {
    let keychain: Keychain
    let log: Logger

    /// Runs until the keychain is closed. Throws EAGAIN without a thread.
    func start() throws(Errno) {
        try BackgroundThread.start(stack: .large) { [keychain, log] in
            keychain.verifyInBackground { fault in Self.tell(fault, log) }
        }
    }

    private static func tell(_ fault: IntegrityFault?, _ log: Logger) {
        switch fault {
        case nil: log.info("every row is what was committed")
        case .rowsMissing(let count):
            log.error("rows are missing that were committed", metadata: ["at-least": "\(count)"])
        case .rowsAdded(let count):
            log.error("rows are there that were never committed", metadata: ["at-least": "\(count)"])
        case .rowsReplaced: log.error("rows are older than what was committed, or changed")
        case .rowsUnreadable: log.error("rows are damaged")
        }
    }
}
