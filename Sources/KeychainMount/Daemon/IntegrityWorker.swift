import FileSystemCore
import Keychain
import KeychainTree
import Logging
import SystemPackage
import SystemServices

/// The thread that verifies a keychain's rows and indexes after the first unlock, builds wrong indexes anew, and tells the log
/// (contract, S2). No names: the log is readable by others.
struct IntegrityWorker {
    let keychain: Keychain
    let host: StoreHost
    let log: Logger
    /// Called when names may be there that were not found before.
    let namesChanged: @Sendable () -> Void

    /// Runs until the keychain is closed. Throws EAGAIN without a thread.
    func start() throws(Errno) {
        try BackgroundThread.start(stack: .large) { [self] in
            keychain.verifyInBackground(
                available: { try? host.statistics().availableBytes }, rebuilt: namesChanged, report: tell)
        }
    }

    private func tell(_ report: IntegrityReport) {
        tell(report.findings.rows)
        tell(report.findings.indexes)
        if let repair = report.repair { tell(repair) }
        if report.findings.isSound { log.info("every row is what was committed, and every index leads to it") }
    }

    private func tell(_ fault: IntegrityFault?) {
        switch fault {
        case nil: break
        case .rowsMissing(let count):
            log.error("rows are missing that were committed", metadata: ["at-least": "\(count)"])
        case .rowsAdded(let count):
            log.error("rows are there that were never committed", metadata: ["at-least": "\(count)"])
        case .rowsReplaced: log.error("rows are older than what was committed, or changed")
        case .rowsUnreadable: log.error("rows are damaged")
        }
    }

    private func tell(_ indexes: IndexFindings) {
        if indexes.hasDifferences {
            log.error(
                "indexes differ from the rows",
                metadata: ["unindexed": "\(indexes.unindexedRows)", "stray": "\(indexes.strayEntries)"])
        }
        if indexes.isIncomplete {
            log.error("a part of the file cannot be read: no new name is accepted until 'keychainfs check --repair'")
        }
    }

    private func tell(_ repair: IndexRepair.Outcome) {
        guard let failure = repair.failure else {
            return log.warning(
                "indexes were built anew; what shared a name with another one now ends in ~2 or a higher number",
                metadata: [
                    "renamed-items": "\(repair.renamedItems)", "renamed-directories": "\(repair.renamedDirectories)",
                ])
        }
        log.error(
            "indexes are wrong and could not be built anew: no new name is accepted",
            metadata: ["errno": "\(failure.errno.rawValue)"])
    }
}
