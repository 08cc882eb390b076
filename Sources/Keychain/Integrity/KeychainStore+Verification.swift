extension KeychainStore {
    /// The pause between two pages in milliseconds, in which waiting requests get access to the store.
    private static let pause = 1

    package var integrity: IntegrityState { isOverwritten ? .damaged : keys.verification.integrity }

    /// Whether another program has written another copy of the keychain over this one since the first unlock. Nothing can be
    /// changed any more, and a locked keychain not be unlocked, until it is opened again.
    package var isOverwritten: Bool { keys.ledger.isOverwritten }

    /// Called before a thread for ``verifyInBackground(available:namesChanged:changed:report:)`` is started: new names wait for
    /// that thread, even if it has not run yet.
    package func expectVerification() { keys.verification.expectWorker() }

    /// Verifies rows and indexes whenever ``Verification`` requests it, and rebuilds wrong indexes if every row is as it was
    /// committed. Runs on a worker thread and returns when the keychain is closed.
    ///
    /// - Parameters:
    ///   - available: The free space on the disk in bytes; nil if it is unknown.
    ///   - namesChanged: Called when the indexes were wrong, also if they were not rebuilt: names that were reported as absent may
    ///     exist.
    ///   - changed: Called after another program has changed the store.
    ///   - failed: Called when a verification could not be completed because of an error of the disk or the system, unless the
    ///     previous one failed too.
    ///   - report: Called after each complete verification.
    package func verifyInBackground(
        available: () -> UInt64? = { nil }, namesChanged: () -> Void = {}, changed: () -> Void = {},
        failed: (KeychainFault) -> Void = { _ in }, report: (IntegrityReport) -> Void
    ) {
        while let task = keys.verification.begin() {
            guard task == .verify else {
                changed()
                continue
            }
            do throws(KeychainFault) {
                if let found = try verify(available, namesChanged) {
                    keys.verification.finish(isConsistent: found.isConsistent)
                    report(found)
                }
            } catch {
                if keys.verification.fail(with: error) { failed(error) }
            }
            keys.verification.interrupt()
        }
    }

    /// Compares the indexes first, because new names wait for the result. Returns nil if a lock ended the verification.
    private func verify(
        _ available: () -> UInt64?, _ namesChanged: () -> Void
    ) throws(KeychainFault) -> IntegrityReport? {
        guard let indexes = try compareIndexesInSteps() else { return nil }
        guard !indexes.hasDifferences else {
            let report = try verifyRowsAndRebuild(indexes, available)
            if report != nil { namesChanged() }
            return report
        }
        keys.verification.finishIndexes(IndexTrust(indexes))
        return try verifyRows(with: indexes).map { IntegrityReport(findings: $0, repair: nil) }
    }

    /// Rebuilds wrong indexes if every row is as it was committed. An index that is rebuilt from a damaged row does not find it by
    /// its name, while the old one does. In the meantime no row is considered absent. A lock leaves the indexes wrong.
    private func verifyRowsAndRebuild(
        _ indexes: IndexFindings, _ available: () -> UInt64?
    ) throws(KeychainFault) -> IntegrityReport? {
        keys.verification.finishIndexes(.rebuilding)
        var trust = IndexTrust.wrong
        defer { keys.verification.finishIndexes(trust) }
        guard let findings = try verifyRows(with: indexes) else { return nil }
        guard findings.mayRebuildIndexes else { return IntegrityReport(findings: findings, repair: nil) }
        let repair: IndexRepair.Outcome
        (repair, trust) = try rebuildIndexes(available)
        return IntegrityReport(findings: findings, repair: repair)
    }

    /// Compares the indexes without pauses.
    func compareIndexes() throws(KeychainFault) -> IndexFindings {
        var scan = IndexScan()
        while !scan.hasEnded {
            try store.read { (reader) throws(KeychainFault) in try scan.step(reader) }
        }
        return scan.findings
    }

    /// Compares the indexes with pauses. Returns nil if a lock ended the scan.
    private func compareIndexesInSteps() throws(KeychainFault) -> IndexFindings? {
        var scan = IndexScan()
        while keys.verification.pause(milliseconds: Self.pause) {
            let step: Void? = try repeatingFailures { () throws(KeychainFault) in
                // On the connection of the writer: another one would need a thread of Dispatch, which a starved process may never get.
                try store.readExclusively { (reader) throws(KeychainFault) in try scan.step(reader) }
            }
            if step == nil { return nil }
            if scan.hasEnded { return scan.findings }
            // Threads that are about to add a name need not wait for the rest.
            if scan.hasComparedRows, !keys.verification.indexes.value.isSettled, !scan.findings.hasDifferences {
                keys.verification.finishIndexes(IndexTrust(scan.findings))
            }
        }
        return nil
    }

    /// Verifies the rows with pauses. Returns nil if a lock ended the scan.
    private func verifyRows(with indexes: IndexFindings) throws(KeychainFault) -> IntegrityFindings? {
        let pass = IntegrityScan(store, ledger: keys.ledger)
        while keys.verification.pause(milliseconds: Self.pause) {
            guard let step = try repeatingFailures({ () throws(KeychainFault) in try pass.step() }) else { return nil }
            if case .finished(let fault) = step { return IntegrityFindings(rows: fault, indexes: indexes) }
        }
        return nil
    }

    /// The pauses before a step of a scan is repeated, in milliseconds: 4 s together.
    private static let failurePauses = [10, 10, 20, 20, 50, 50, 100, 100, 200, 200, 500, 500, 1000, 1000]

    /// Runs a step of a scan, and repeats it after an error of the disk or the system, because many of them are temporary: the
    /// rows are not damaged. Returns nil if a lock ended the scan.
    private func repeatingFailures<Result>(
        _ step: () throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result? {
        for pause in Self.failurePauses {
            do throws(KeychainFault) { return try step() } catch {
                guard error.isTemporary else { throw error }
            }
            guard keys.verification.pauseAfterFailure(milliseconds: pause) else { return nil }
        }
        return try step()
    }

    /// Rebuilds the indexes and compares them again.
    private func rebuildIndexes(
        _ available: () -> UInt64?
    ) throws(KeychainFault) -> (IndexRepair.Outcome, IndexTrust) {
        var outcome = IndexRepair(keychain: self).run(available)
        guard outcome.isComplete else { return (outcome, .wrong) }
        let findings = try compareIndexes()
        if !findings.areConsistent { outcome.failure = .decode }
        // Rows that were added while locked may have been missed.
        keys.rewrapping.again()
        return (outcome, IndexTrust(findings))
    }

    /// Returns whether rows and indexes are as committed. Verifies them now, unless the last verification covers the
    /// present state.
    package func verifiedIntegrity() throws(KeychainFault) -> IntegrityState {
        try store.findExternalChanges()
        if keys.verification.isFinished { return integrity }
        return try verifyNow().isConsistent ? .verified : .damaged
    }

    /// Called once a minute: detects changes by other programs, and requests a verification once a day.
    package func watchStore(now: ContinuousClock.Instant = .now) {
        try? store.findExternalChanges()
        keys.verification.renew(after: Self.verificationInterval, now: now)
    }

    private static let verificationInterval = Duration.seconds(86_400)

    /// Verifies rows and indexes without pauses.
    func verifyNow() throws(KeychainFault) -> IntegrityFindings {
        let indexes = try compareIndexes()
        let rows = try IntegrityScan(store, ledger: keys.ledger).run()
        let findings = IntegrityFindings(rows: rows, indexes: indexes)
        keys.verification.note(findings)
        return findings
    }
}
