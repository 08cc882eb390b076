import SecretCrypto
import Synchronization

extension KeyRing {
    /// What the first unlock has found.
    package var rollbackCheck: RollbackCheck { numbers.withLock { $0.check } }

    /// Whether the last number could be kept, as far as one had to be: else an older copy of the store might not be told.
    package var isCommitNumberKept: Bool { !numbers.withLock { $0.hasFailed } }

    /// Compares the store with what this device has kept, before the first unlock changes anything.
    ///
    /// - Throws: `rolledBack` for an older store, `untrustedCommitNumber` for a kept number that is not what was written;
    ///   neither if it is accepted. `decode` if the store's header is not what was sealed and that is not accepted.
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

    /// Nil for a header that is not what was sealed, where that is accepted: what the store holds can be read then, and
    /// nothing be changed.
    private func commitNumber(
        of record: StoreRecord, _ master: MasterKeys, acceptingDamage: Bool
    ) throws(KeychainFault) -> Int64? {
        do throws(KeychainFault) {
            return try StoreHeader(opening: record.header, key: master.header, store: storeID).commit
        } catch .decode where acceptingDamage {
            return nil
        }
    }

    /// The number that lies with the commitNumberStore; nil if none does, or not one that was written for this store.
    func keptCommitNumber() throws(KeychainFault) -> Int64? {
        guard let bytes = commitNumberStore?.load(for: storeID) else { return nil }
        return try CommitNumberRecord(key: masterKeys().commitNumber, store: storeID).number(in: bytes)
    }

    /// Keeps the number of the last commit that is durable, if it is another than the one that is kept.
    ///
    /// Does nothing before the first unlock, of a store that takes no changes, and without anybody to keep it. To be
    /// called after an unlock, after a lock, at the end, and in between at most once a minute (contract, S2). Waits for the
    /// disk: never within a transaction of the store, nor before a lock is complete.
    package func keepCommitNumber() throws(KeychainFault) {
        guard let commitNumberStore, !store.isReadOnly, let master = current.withLock({ $0.master }) else { return }
        try numberWriting.withLock { (_) throws(KeychainFault) in
            let known = numbers.withLock { $0 }
            let record = try store.read { (reader) throws(KeychainFault) in try reader.store() }
            let number = try StoreHeader(opening: record.header, key: master.header, store: storeID).commit
            guard known.kept != number else { return }
            let sealed = CommitNumberRecord(key: master.commitNumber, store: storeID)
            // Somebody else may have kept a greater one, for another copy of the store: only who accepts lowers it.
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
    /// Keeps the number of this store, be it smaller than what was kept: it has been put in place on purpose.
    package func setCommitNumber(in commitNumberStore: any CommitNumberStore) throws(KeychainFault) {
        try setCommitNumber(in: commitNumberStore) { _, _ in true }
    }

    /// The same where the number is smaller than what was kept: for a store that is about to be put in place. Whatever becomes
    /// of that, what lies there is then not taken for an older copy.
    package func lowerCommitNumber(in commitNumberStore: any CommitNumberStore) throws(KeychainFault) {
        try setCommitNumber(in: commitNumberStore) { number, kept in kept.map { $0 > number } ?? false }
    }

    private func setCommitNumber(
        in commitNumberStore: any CommitNumberStore, if isWanted: (_ number: Int64, _ kept: Int64?) -> Bool
    ) throws(KeychainFault) {
        let record = try store.read { (reader) throws(KeychainFault) in try reader.store() }
        let master = try masterKeys()
        let number = try StoreHeader(opening: record.header, key: master.header, store: storeID).commit
        let sealed = CommitNumberRecord(key: master.commitNumber, store: storeID)
        let kept = try commitNumberStore.load(for: storeID).flatMap { (bytes) throws(KeychainFault) in
            try sealed.number(in: bytes)
        }
        guard isWanted(number, kept) else { return }
        try commitNumberStore.save(try sealed.bytes(of: number), for: storeID)
    }

    /// The known commit numbers. Their mutex is held for no access to store or disk: `status` reads them.
    struct CommitNumberState {
        var check = RollbackCheck.none
        /// What lies with the commitNumberStore, as far as this process knows.
        var kept: Int64?
        /// Whether the last attempt to keep one has failed.
        var hasFailed = false
    }
}
