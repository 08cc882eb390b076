import SecretCrypto

/// Items of WhenUnlockedUnlessOpen that were added while locked are sealed for the class's public key, each by a pair
/// of its own. After the unlock they are sealed as all others are (contract, S3).
extension KeychainStore {
    /// Checks that an item of a class can be added: while the class is unlocked, or after the first unlock with the public key of
    /// WhenUnlockedUnlessOpen.
    ///
    /// - Throws: `interactionNotAllowed` if the lock state forbids it, `decode` if the keys are damaged.
    package func checkCanAdd(_ protection: ProtectionClass) throws(KeychainFault) {
        let current = try keys.currentKeys(for: protection)
        if current.isAvailable { return }
        guard protection == .whenUnlockedUnlessOpen, current.publicKey != nil else { throw .interactionNotAllowed }
    }

    /// Rows of one transaction: whoever waits for the store waits for no more than that.
    static let rewrapPageSize = 8
    /// Milliseconds between two transactions.
    private static let rewrapPause = 2

    /// The life of a worker thread: seals such rows anew after each unlock; returns when the keychain is closed.
    ///
    /// - Parameter report: called once per unlock with how many it were, if any, and with what stopped it: a lock is
    ///   ``KeychainFault/interactionNotAllowed``. What is left then is done after the next unlock.
    /// - Parameter afterwards: called after each unlock's work: metadata and contents have been through this thread, which
    ///   now waits.
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

    /// Seals the next rows anew, in one transaction; nil if there are none behind `after`.
    ///
    /// - Throws: `interactionNotAllowed` after a lock: all of them are then as they were.
    func rewrapPage(after: RowID) throws(KeychainFault) -> (last: RowID, count: Int, isLast: Bool)? {
        let ids = try store.read { (reader) throws(KeychainFault) in
            try reader.ephemeralItems(after: after, limit: Self.rewrapPageSize)
        }
        guard let last = ids.last else { return nil }
        let count = try change { (transaction) throws(KeychainFault) in
            var count = 0
            for id in ids where try transaction.rewrap(id) { count += 1 }
            return count
        }
        return (last, count, ids.count < Self.rewrapPageSize)
    }
}

extension Transaction {
    /// The version that the store has of an item, whatever is locked; nil if there is no such row.
    package func version(of row: RowID) throws(KeychainFault) -> Int64? { try writer.itemSummary(id: row)?.version }

    /// Seals a row anew that was sealed while locked; false if it is not such a row any more.
    ///
    /// Its version moves on, and nothing that anybody sees of it.
    func rewrap(_ id: RowID) throws(KeychainFault) -> Bool {
        do throws(KeychainFault) {
            guard let (record, ciphertext) = try writer.itemWithSecret(id: id), record.ephemeral != nil else {
                return false
            }
            let sealed = try keychain.itemEnvelope.reseal(record, ciphertext: ciphertext)
            // A lock that came in between has made it such a row again.
            guard sealed.record.ephemeral == nil else { throw .interactionNotAllowed }
            try writer.put(sealed.record, secret: sealed.secret)
            return true
        } catch .decode {
            // Damaged: it stays what it is, and who reads it is told.
            return false
        }
    }
}
