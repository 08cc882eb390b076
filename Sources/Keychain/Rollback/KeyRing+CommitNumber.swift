import SecretCrypto
import Synchronization

extension KeyRing {
    /// The result of the comparison at the first unlock.
    package var rollbackCheck: RollbackCheck { numbers.withLock { $0.check } }

    /// Whether the last necessary save succeeded. Otherwise an older copy of the store might not be detected.
    package var isCommitNumberKept: Bool { !numbers.withLock { $0.hasFailed } }

    /// Compares the store with the number of this device, before the first unlock changes anything.
    ///
    /// - Throws: `rolledBack` for an older store and `untrustedCommitNumber` for a stored number that is not authentic,
    ///   unless accepted; `decode` if the store's header is not authentic and that is not accepted.
    func checkRollback(_ record: StoreRecord, master: MasterKeys, acceptingRollback: Bool) throws(KeychainFault) {
        guard let commitNumberStore else { return }
        guard let found = try commitNumber(of: record, master, acceptingDamage: acceptingRollback) else {
            return numbers.withLock { $0.check = .accepted }
        }
        guard let bytes = commitNumberStore.load(for: storeID) else { return numbers.withLock { $0.check = .first } }
        let kept = try CommitNumberRecord(key: master.commitNumber, store: storeID).number(in: bytes)
        if let kept, kept <= found {
            return numbers.withLock { $0 = CommitNumberState(check: .passed, kept: kept) }
        }
        guard acceptingRollback else {
            throw kept.map { .rolledBack(kept: $0, found: found) } ?? .untrustedCommitNumber
        }
        numbers.withLock { $0.check = .accepted }
    }

    /// Returns the commit number; nil for an accepted header that is not authentic, with which the store can be read
    /// but not changed.
    private func commitNumber(
        of record: StoreRecord, _ master: MasterKeys, acceptingDamage: Bool
    ) throws(KeychainFault) -> Int64? {
        do throws(KeychainFault) {
            return try StoreHeader(opening: record, key: master.header).commit
        } catch .decode where acceptingDamage {
            return nil
        }
    }

    /// Returns the stored number; nil if no number is stored, or it was not created for this store.
    func keptCommitNumber() throws(KeychainFault) -> Int64? {
        guard let bytes = commitNumberStore?.load(for: storeID) else { return nil }
        return try CommitNumberRecord(key: masterKeys().commitNumber, store: storeID).number(in: bytes)
    }

    /// Stores the number of the last durable commit, unless it is stored already.
    ///
    /// Has no effect before the first unlock, for a read-only store, and without a commit number store. Must be called
    /// after an unlock, after a lock, at the end, and otherwise at most once a minute (contract, S2). Waits for the
    /// disk, so it must not be called in a transaction, nor before a lock is complete.
    package func keepCommitNumber() throws(KeychainFault) {
        guard let commitNumberStore, !store.isReadOnly, let master = current.withLock({ $0.master }) else { return }
        try numberWriting.withLock { (_) throws(KeychainFault) in
            let known = numbers.withLock { $0 }
            let record = try store.read { (reader) throws(KeychainFault) in try reader.store() }
            let number = try StoreHeader(opening: record, key: master.header).commit
            guard known.kept != number else { return }
            let sealed = CommitNumberRecord(key: master.commitNumber, store: storeID)
            // Another process may have stored a greater number for another copy of the store. Only an explicit
            // acceptance reduces it.
            if known.check != .accepted || known.kept != nil, let others = commitNumberStore.load(for: storeID),
                let kept = try sealed.number(in: others), kept > number
            {
                return
            }
            let bytes = try sealed.bytes(of: number)
            do throws(KeychainFault) {
                try commitNumberStore.save(bytes, for: storeID)
            } catch {
                numbers.withLock { $0.hasFailed = true }
                throw error
            }
            numbers.withLock { ($0.kept, $0.hasFailed) = (number, false) }
        }
    }
}

extension KeyRing {
    /// Stores the number of this store, even if it is smaller than the stored one: it has been restored on purpose.
    package func setCommitNumber(in commitNumberStore: any CommitNumberStore) throws(KeychainFault) {
        try setCommitNumber(in: commitNumberStore) { _, _ in true }
    }

    /// Stores the number of this store if it is smaller than the stored one: for a store that is about to be restored.
    /// Whether or not that succeeds, the store is then not taken for an older copy.
    package func lowerCommitNumber(in commitNumberStore: any CommitNumberStore) throws(KeychainFault) {
        try setCommitNumber(in: commitNumberStore) { number, kept in kept.map { $0 > number } ?? false }
    }

    private func setCommitNumber(
        in commitNumberStore: any CommitNumberStore, if isWanted: (_ number: Int64, _ kept: Int64?) -> Bool
    ) throws(KeychainFault) {
        let record = try store.read { (reader) throws(KeychainFault) in try reader.store() }
        let master = try masterKeys()
        let number = try StoreHeader(opening: record, key: master.header).commit
        let sealed = CommitNumberRecord(key: master.commitNumber, store: storeID)
        let kept = try commitNumberStore.load(for: storeID).flatMap { (bytes) throws(KeychainFault) in
            try sealed.number(in: bytes)
        }
        guard isWanted(number, kept) else { return }
        try commitNumberStore.save(try sealed.bytes(of: number), for: storeID)
    }

    /// The known commit numbers. Their mutex is not locked during accesses to store or disk, because `status` reads
    /// them.
    struct CommitNumberState {
        var check = RollbackCheck.none
        /// The stored number, as far as this process knows.
        var kept: Int64?
        /// Whether the last save has failed.
        var hasFailed = false
    }
}
