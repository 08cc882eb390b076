extension Keychain {
    /// Milliseconds between two pages: what waits for the store meanwhile goes first.
    private static let pause = 1

    package var integrity: IntegrityState { keys.verification.integrity }

    /// The life of a worker thread: verifies rows and indexes after the first unlock, and builds wrong indexes anew; returns when the
    /// keychain is closed.
    ///
    /// - Parameters:
    ///   - available: how much room there is on the disk, in bytes; nil if that cannot be told.
    ///   - rebuilt: called when indexes have been built anew: names may be there that were not found before.
    ///   - report: called once per pass that came to its end.
    package func verifyInBackground(
        available: () -> UInt64? = { nil }, rebuilt: () -> Void = {}, report: (IntegrityReport) -> Void
    ) {
        while keys.verification.begin() {
            do throws(KeychainError) {
                if let found = try verify(available, rebuilt) {
                    keys.verification.finish(isSound: found.isSound)
                    report(found)
                }
            } catch {
                // Closed, or a disk that does not read: whoever needs the row is told.
            }
            keys.verification.interrupt()
        }
    }

    /// Nil after a lock. The indexes come first: new names wait for them.
    private func verify(
        _ available: () -> UInt64?, _ rebuilt: () -> Void
    ) throws(KeychainError) -> IntegrityReport? {
        guard let indexes = try compareIndexesInSteps() else { return nil }
        var repair: IndexRepair.Outcome?
        if indexes.hasDifferences {
            repair = try rebuildIndexes(available)
            rebuilt()
        } else {
            keys.verification.finishIndexes(IndexTrust(indexes))
        }
        guard let rows = try verifyRows() else { return nil }
        return IntegrityReport(findings: IntegrityFindings(rows: rows.fault, indexes: indexes), repair: repair)
    }

    /// Without a pause, page by page.
    func compareIndexes() throws(KeychainError) -> IndexFindings {
        var scan = IndexScan()
        while !scan.hasEnded {
            try store.read { (reader) throws(KeychainError) in try scan.step(reader) }
        }
        return scan.findings
    }

    /// Nil after a lock.
    private func compareIndexesInSteps() throws(KeychainError) -> IndexFindings? {
        var scan = IndexScan()
        while keys.verification.pauseForIndexes(milliseconds: Self.pause) {
            try store.read { (reader) throws(KeychainError) in try scan.step(reader) }
            if scan.hasEnded { return scan.findings }
            // Those who wait to make a name need not wait for the rest.
            if scan.hasComparedRows, !keys.verification.indexes.value.isSettled, !scan.findings.hasDifferences {
                keys.verification.finishIndexes(IndexTrust(scan.findings))
            }
        }
        return nil
    }

    /// Nil after a lock.
    private func verifyRows() throws(KeychainError) -> (fault: IntegrityFault?, Void)? {
        let pass = IntegrityPass(store, ledger: keys.ledger)
        while keys.verification.pause(milliseconds: Self.pause) {
            if case .finished(let fault) = try pass.step() { return (fault, ()) }
        }
        return nil
    }

    /// Until it has succeeded, nothing is taken for absent. A lock in between leaves the indexes wrong.
    private func rebuildIndexes(_ available: () -> UInt64?) throws(KeychainError) -> IndexRepair.Outcome {
        keys.verification.finishIndexes(.rebuilding)
        var trust = IndexTrust.wrong
        defer { keys.verification.finishIndexes(trust) }
        var outcome = IndexRepair(keychain: self).run(available)
        guard outcome.isComplete else { return outcome }
        let findings = try compareIndexes()
        trust = IndexTrust(findings)
        if !findings.areSound { outcome.failure = .decode }
        // What an index has hidden from it.
        keys.rewrapping.again()
        return outcome
    }

    /// Whether rows and indexes are as they were committed, verified now if nobody has done so since the store was opened.
    package func verifiedIntegrity() throws(KeychainError) -> IntegrityState {
        switch integrity {
        case .verified, .damaged: return integrity
        case .unverified, .verifying: return try verifyNow().isSound ? .verified : .damaged
        }
    }

    /// The same now, without a pause.
    func verifyNow() throws(KeychainError) -> IntegrityFindings {
        let indexes = try compareIndexes()
        let rows = try IntegrityPass(store, ledger: keys.ledger).run()
        let findings = IntegrityFindings(rows: rows, indexes: indexes)
        keys.verification.note(findings)
        return findings
    }
}
