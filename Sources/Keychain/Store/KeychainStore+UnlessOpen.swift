import SecretCrypto

/// Items of WhenUnlockedUnlessOpen that are added while locked are sealed for the class's public key, each with its own
/// ephemeral key pair. After the unlock they are rewrapped under their class key (contract, S3).
extension KeychainStore {
    /// Checks that an item of a class can be added: while the class is unlocked, or after the first unlock with the
    /// public key of WhenUnlockedUnlessOpen.
    ///
    /// - Throws: `interactionNotAllowed` if the lock state forbids it; `decode` if the keys are damaged.
    package func checkCanAdd(_ protection: ProtectionClass) throws(KeychainFault) {
        let current = try keys.currentKeys(for: protection)
        if current.isAvailable { return }
        guard protection == .whenUnlockedUnlessOpen, current.publicKey != nil else { throw .interactionNotAllowed }
    }

    /// The number of rows of a transaction, for which other users of the store wait.
    static let rewrapPageSize = 8
    /// The pause between two transactions in milliseconds.
    private static let rewrapPause = 2

    /// The main function of a worker thread, which rewraps such rows after each unlock. Returns when the keychain is
    /// closed.
    ///
    /// - Parameter report: Called once per unlock with the number of rows, unless it is 0, and with the error that
    ///   stopped the work: a lock is ``KeychainFault/interactionNotAllowed``. The remaining rows are rewrapped after
    ///   the next unlock.
    /// - Parameter afterwards: Called at the end of each run, for wiping this thread's stack, which has contained
    ///   metadata and secrets.
    package func rewrapInBackground(
        _ report: (_ count: Int, KeychainFault?) -> Void, afterwards: () -> Void = {}
    ) {
        while keys.rewrapping.begin() {
            guard !isReadOnly else { continue }
            var count = 0
            do throws(KeychainFault) {
                var after = RowID.none
                while let page = try rewrapPage(after: after) {
                    count += page.count
                    after = page.last
                    if page.isLast { break }
                    guard keys.rewrapping.pause(milliseconds: Self.rewrapPause) else {
                        throw .interactionNotAllowed
                    }
                }
                if count > 0 { report(count, nil) }
            } catch {
                report(count, error)
            }
            afterwards()
        }
    }

    /// Rewraps the next rows in one transaction. Returns nil if no row follows `after`.
    ///
    /// - Throws: `interactionNotAllowed` after a lock, with all of them unchanged.
    func rewrapPage(after: RowID) throws(KeychainFault) -> (last: RowID, count: Int, isLast: Bool)? {
        let ids = try store.read { (reader) throws(KeychainFault) in
            try reader.ephemeralItems(after: after, limit: Self.rewrapPageSize)
        }
        guard let last = ids.last else { return nil }
        try verifyOlderRows(ids)
        let count = try change { (transaction) throws(KeychainFault) in
            var count = 0
            for id in ids where try mayRewrap(id, transaction) {
                if try transaction.rewrap(id) { count += 1 }
            }
            return count
        }
        return (last, count, ids.count < Self.rewrapPageSize)
    }

    /// Whether a row gets the newest keys. The holder of a removed slot can forge rows under older keys: only committed ones do.
    private func mayRewrap(_ id: RowID, _ transaction: Transaction) throws(KeychainFault) -> Bool {
        if integrity == .verified { return true }
        return try !isUnderOlderKeys(id, transaction.writer)
    }

    /// Whether a row is under older keys, or damaged.
    private func isUnderOlderKeys(_ id: RowID, _ reader: any RecordReader) throws(KeychainFault) -> Bool {
        let isOlder = try unlessUnreadable { () throws(KeychainFault) -> Bool? in
            guard let record = try reader.item(id: id) else { return false }
            return try record.generation != keys.currentKeys(for: record.protection).generation
        }
        return isOlder ?? true
    }

    /// Waits until all rows are verified if one of these is under older keys.
    private func verifyOlderRows(_ ids: [RowID]) throws(KeychainFault) {
        let isAnyOlder = try store.read { (reader) throws(KeychainFault) in
            for id in ids where try isUnderOlderKeys(id, reader) { return true }
            return false
        }
        guard isAnyOlder else { return }
        keys.verification.awaitResult()
        guard keys.state == .unlocked else { throw .interactionNotAllowed }
        _ = try verifiedIntegrity()
    }
}

extension Transaction {
    /// Returns the version of an item in the store, in any lock state; nil if the row does not exist.
    package func version(of row: RowID) throws(KeychainFault) -> Int64? { try writer.item(id: row)?.version }

    /// Rewraps a row that was sealed while locked. Returns false if it is not such a row any more.
    ///
    /// Its version changes, but no visible property.
    func rewrap(_ id: RowID) throws(KeychainFault) -> Bool {
        do throws(KeychainFault) {
            guard let (record, ciphertext) = try writer.itemWithSecret(id: id), record.ephemeral != nil else {
                return false
            }
            let sealed = try keychain.itemEnvelope.reseal(record, ciphertext: ciphertext)
            // After a lock in the meantime the new row is such a row again.
            guard sealed.record.ephemeral == nil else { throw .interactionNotAllowed }
            try writer.put(sealed.record, secret: sealed.secret)
            return true
        } catch .decode {
            // Damaged: stays unchanged, so that reading it reports the damage.
            return false
        }
    }
}
