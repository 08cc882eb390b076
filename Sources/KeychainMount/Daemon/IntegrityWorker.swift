import FileSystemCore
import Keychain
import KeychainTree
import LinuxSupport
import Logging
import SystemPackage

/// The thread that verifies a keychain's rows and indexes, rebuilds wrong indexes, and writes the result to the log
/// (contract, S2). Without names, because the log is readable by others.
struct IntegrityWorker {
    let keychain: KeychainStore
    let host: SystemTreeHost
    let log: Logger
    /// Called after wrong indexes were found and after a change by another program: names may be found that were not
    /// found before.
    let namesChanged: @Sendable () -> Void

    /// Starts the thread, which runs until the keychain is closed.
    ///
    /// - Throws: EAGAIN if the system cannot create a thread.
    func start() throws(Errno) {
        keychain.expectVerification()
        try BackgroundThread.start(stack: .large) { [self] in
            keychain.verifyInBackground(
                available: { try? host.statistics().availableBytes }, namesChanged: namesChanged,
                changed: notifyChange, failed: writeLog, report: writeLog)
        }
    }

    private func notifyChange() {
        namesChanged()
        log.critical("another program has changed the file of the keychain or its log; it is verified again")
    }

    private func writeLog(_ failure: KeychainFault) {
        log.error(
            "the rows could not be verified, because the disk or the system reports an error; it is tried again every minute",
            metadata: ["errno": "\(failure.errno.rawValue)"])
    }

    private func writeLog(_ report: IntegrityReport) {
        writeLog(report.findings.rows)
        writeLog(report.findings.indexes)
        if let repair = report.repair {
            writeLog(repair)
        } else if report.findings.indexes.hasDifferences {
            log.error(
                "indexes are not rebuilt from such rows: no name is reported as absent, and no new name is accepted; 'keychainfs check' names damaged rows"
            )
        }
        if report.findings.isConsistent { log.info("every row is as it was committed, and every index contains it") }
    }

    private func writeLog(_ fault: IntegrityFault?) {
        switch fault {
        case nil: break
        case .rowsMissing(let count):
            log.error("rows are missing that were committed", metadata: ["at-least": "\(count)"])
        case .rowsAdded(let count):
            log.error("rows exist that were never committed", metadata: ["at-least": "\(count)"])
        case .rowsReplaced: log.error("rows are older than the last commit, or changed")
        case .rowsUnreadable: log.error("rows are damaged")
        case .anotherCopy:
            log.critical("another copy was written over the keychain's file: nothing is changed until the next mount")
        }
    }

    private func writeLog(_ indexes: IndexFindings) {
        if indexes.hasDifferences {
            log.error(
                "indexes differ from the rows",
                metadata: ["unindexed": "\(indexes.unindexedRows)", "wrong": "\(indexes.wrongEntries)"])
        }
        if indexes.isIncomplete {
            log.error("a part of the file cannot be read: no new name is accepted until 'keychainfs check --repair'")
        }
    }

    private func writeLog(_ repair: IndexRepair.Outcome) {
        guard let failure = repair.failure else {
            return log.warning(
                "indexes were rebuilt; items that shared a name now have names that end in ~2 or a higher number",
                metadata: [
                    "renamed-items": "\(repair.renamedItems)", "renamed-directories": "\(repair.renamedDirectories)",
                ])
        }
        log.error(
            "indexes are wrong and could not be rebuilt: no new name is accepted",
            metadata: ["errno": "\(failure.errno.rawValue)"])
    }
}
