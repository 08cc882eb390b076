import SecretCrypto
import Synchronization

extension KeyRing {
    /// The result of the comparison at the first unlock.
    package var rollbackCheck: RollbackCheck { numbers.withLock { $0.check } }

    /// Whether the last necessary save succeeded. Otherwise an older copy of the store might not be detected.
    package var isCommitNumberKept: Bool { !numbers.withLock { $0.hasFailed } }

    /// Compares the store with the state that this device has seen, before the first unlock changes anything.
    ///
    /// - Parameter header: Nil for a damaged header in an examination.
    /// - Throws: `rolledBack` for an older store and `untrustedCommitNumber` for a file that is not authentic for it,
    ///   unless accepted; `decode` for a damaged header unless accepted.
    func checkRollback(
        _ records: KeySnapshot, userKey: borrowing SecretBytes, keys: HeaderKeys, header: StoreHeader?,
        acceptingRollback: Bool
    ) throws(KeychainFault) {
        guard let commitNumberStore else { return }
        guard let header else {
            guard acceptingRollback else { throw .decode }
            return numbers.withLock { $0.check = .accepted }
        }
        guard let bytes = commitNumberStore.load(for: storeID) else { return numbers.withLock { $0.check = .first } }
        let kept = try authentic(bytes, records, userKey: userKey, keys: keys)
        if let kept, kept.userKeyGeneration <= keys.generation, kept.commit <= header.commit {
            return numbers.withLock { $0 = CommitNumberState(check: .passed, kept: kept) }
        }
        guard acceptingRollback else {
            throw kept.map { .rolledBack(kept: $0.commit, found: header.commit) } ?? .untrustedCommitNumber
        }
        numbers.withLock { $0.check = .accepted }
    }

    /// Returns the state in a file; nil if it is not authentic for this store.
    private func authentic(
        _ bytes: [UInt8], _ records: KeySnapshot, userKey: borrowing SecretBytes, keys: HeaderKeys
    ) throws(KeychainFault) -> SeenState? {
        do throws(KeychainFault) {
            let record = try DeviceFileRecord(decoding: bytes, store: storeID)
            let generation = record.state.userKeyGeneration
            let itsKeys = generation == keys.generation ? keys : try pastKeys(generation, records, userKey: userKey)
            return try record.isAuthentic(itsKeys.deviceFile) ? record.state : nil
        } catch .decode {
            return nil
        }
    }

    /// Returns the keys of the generation that a file names. The store contains its user key if it was rotated since.
    ///
    /// - Throws: `decode` without that user key: the file is of another history of the store.
    private func pastKeys(
        _ generation: Int64, _ records: KeySnapshot, userKey: borrowing SecretBytes
    ) throws(KeychainFault) -> HeaderKeys {
        let past = try records.pastUserKey(generation, userKey: userKey)
        do throws(CryptoError) {
            return try HeaderKeys(userKey: past, generation: generation, store: storeID)
        } catch {
            throw KeychainFault(error)
        }
    }

    /// Returns the commit number in the file of this device, authentic or not; nil if there is no file of this store.
    func keptCommitNumber() -> Int64? {
        guard let bytes = commitNumberStore?.load(for: storeID) else { return nil }
        let record = try? DeviceFileRecord(decoding: bytes, store: storeID)
        return record?.state.commit
    }

    /// Stores the last durable state of the store, unless it is stored already.
    ///
    /// Has no effect before the first unlock, for a read-only store, and without a commit number store. Must be called
    /// after an unlock, after a lock, after a rotation, at the end, and otherwise at most once a minute (contract, S2).
    /// Waits for the disk, so it must not be called in a transaction, nor before a lock is complete.
    package func keepCommitNumber() throws(KeychainFault) {
        guard let commitNumberStore, !store.isReadOnly, state.isAfterFirstUnlock else { return }
        try numberWriting.withLock { (_) throws(KeychainFault) in
            let known = numbers.withLock { $0 }
            let (seen, keys) = try seenState()
            guard known.kept != seen else { return }
            // Another process may have stored a newer state of another copy of the store. Only an explicit acceptance
            // replaces it.
            if known.check != .accepted || known.kept != nil {
                guard try !isNewer(commitNumberStore.load(for: storeID), than: seen, keys) else { return }
            }
            let bytes = try DeviceFileRecord.encode(seen, store: storeID, key: keys.deviceFile)
            do throws(KeychainFault) {
                try commitNumberStore.save(bytes, for: storeID)
            } catch {
                numbers.withLock { $0.hasFailed = true }
                throw error
            }
            numbers.withLock { ($0.kept, $0.hasFailed) = (seen, false) }
        }
    }

    /// Returns the present state of the store, and the keys of its generation.
    private func seenState() throws(KeychainFault) -> (SeenState, HeaderKeys) {
        while true {
            let keys = try ledger.digest().keys
            let seen = try ledger.read(store) { (reader, header) throws(KeychainFault) in
                SeenState(header, of: try reader.store(), keys: keys)
            }
            // Unless a rotation was committed between the two.
            if try ledger.digest().keys === keys { return (seen, keys) }
        }
    }

    /// Whether the bytes of a file describe a newer state. Those of a newer generation cannot be verified.
    private func isNewer(
        _ bytes: [UInt8]?, than seen: SeenState, _ keys: HeaderKeys
    ) throws(KeychainFault) -> Bool {
        guard let bytes else { return false }
        let found = try nilIfDamaged { () throws(KeychainFault) in
            try DeviceFileRecord(decoding: bytes, store: storeID)
        }
        guard let record = found else { return false }
        guard record.state.userKeyGeneration == seen.userKeyGeneration else {
            return record.state.userKeyGeneration > seen.userKeyGeneration
        }
        return try record.isAuthentic(keys.deviceFile) && record.state.commit > seen.commit
    }
}

extension KeyRing {
    /// Stores the state of this store, even if it is older than the stored one: it has been restored on purpose.
    package func setCommitNumber(in commitNumberStore: any CommitNumberStore) throws(KeychainFault) {
        let (seen, keys) = try seenState()
        try commitNumberStore.save(
            DeviceFileRecord.encode(seen, store: storeID, key: keys.deviceFile), for: storeID)
    }

    /// Stores the state of this store if it is older than the stored one: for a store that is about to be restored.
    /// Whether or not that succeeds, the store is then not taken for an older copy.
    package func lowerCommitNumber(in commitNumberStore: any CommitNumberStore) throws(KeychainFault) {
        guard let bytes = commitNumberStore.load(for: storeID) else { return }
        let record = try nilIfDamaged { () throws(KeychainFault) in
            try DeviceFileRecord(decoding: bytes, store: storeID)
        }
        guard let kept = record?.state else { return }
        let (seen, _) = try seenState()
        guard (seen.userKeyGeneration, seen.commit) < (kept.userKeyGeneration, kept.commit) else { return }
        try setCommitNumber(in: commitNumberStore)
    }

    /// The known states. Their mutex is not locked during accesses to store or disk, because `status` reads them.
    struct CommitNumberState {
        var check = RollbackCheck.none
        /// The stored state, as far as this process knows.
        var kept: SeenState?
        /// Whether the last save has failed.
        var hasFailed = false
    }
}
