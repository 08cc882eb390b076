package import SecretCrypto
import Synchronization

extension KeyRing {
    /// The result of the comparison at the first unlock.
    package var rollbackCheck: RollbackCheck { numbers.withLock { $0.check } }

    /// The error of the last save of the state; nil if it is saved. With an error this device may accept an older copy of the
    /// store, after a rotation also one that a removed slot opens.
    package var stateFault: KeychainFault? { numbers.withLock { $0.fault } }

    /// Whether the user has accepted a copy from before the user key was replaced: slots that have been removed or changed since
    /// open it.
    package var hasReplacedUserKey: Bool { numbers.withLock { $0.accepted == .replacedUserKey } }

    /// Compares the store with the state that this device has seen, before the first unlock changes anything.
    ///
    /// - Parameter header: Nil for a damaged header in an examination.
    /// - Throws: `rolledBack` for an older store, `replacedUserKey` for one with an older user key, `forked` and
    ///   `missingChanges` for another copy, `untrustedCommitNumber` for a file that is not authentic for it and
    ///   `missingCommitNumber` for a missing one, unless accepted; `decode` for a damaged header unless accepted;
    ///   `deviceFile` for a file that cannot be read.
    func checkRollback(
        _ records: KeySnapshot, userKey: borrowing SecretBytes, keys: HeaderKeys, header: StoreHeader?,
        acceptingRollback: Bool
    ) throws(KeychainFault) {
        guard let commitNumberStore else { return }
        let kept = try keptState(in: commitNumberStore, records, userKey: userKey, keys: keys)
        let found = header.map {
            SeenState($0, of: records.store, keys: keys, mark: records.mark(tag: deviceTag))
        }
        if let refusal = found.map({ refusal(of: $0, kept: kept, records) }) ?? .decode {
            guard acceptingRollback else { throw refusal }
            return numbers.withLock { ($0.check, $0.accepted) = (.accepted, refusal) }
        }
        numbers.withLock { state in
            if case .authentic(let seen) = kept {
                state = CommitNumberState(check: .passed, kept: seen)
            } else {
                state = CommitNumberState(check: .first)
            }
        }
    }

    /// Returns why a store in the state `found` is refused; nil if it is not.
    private func refusal(of found: SeenState, kept: KeptState, _ records: KeySnapshot) -> KeychainFault? {
        switch kept {
        // Only a device that is new to a store has no file.
        case .missing: records.devices.contains { $0.tag == deviceTag } ? .missingCommitNumber : nil
        case .untrusted: .untrustedCommitNumber
        case .newerUserKey: .replacedUserKey
        case .authentic(let kept): kept.refusal(of: found)
        }
    }

    /// Writes a transaction after the user has accepted another copy, with a number above that of the copy that this
    /// device has seen: each other copy is older from then on.
    func raiseAcceptedCommit() throws(KeychainFault) {
        guard rollbackCheck == .accepted, !store.isReadOnly, !isExamination else { return }
        try raiseCommit(above: keptCommitNumber() ?? 0)
    }

    /// Writes a transaction with a number above `number` and above that of the last one, and with the mark of this device, which
    /// accepts this copy then, even if its state cannot be stored. Changes nothing on a read-only medium.
    package func raiseCommit(above number: Int64) throws(KeychainFault) {
        do throws(KeychainFault) {
            try store.write(by: ledger) { (writer) throws(KeychainFault) in
                writer.raiseCommit(above: number)
                writer.requireMark()
            }
        } catch .readOnly {
            return
        }
    }

    /// Returns the state in the file of this device, authentic or not; nil if there is no file of this store, or it cannot be read.
    private func unverifiedState(in commitNumberStore: any CommitNumberStore) -> SeenState? {
        guard let bytes = try? commitNumberStore.load(for: storeID) else { return nil }
        return (try? DeviceFileRecord(decoding: bytes, store: storeID))?.state
    }

    /// Returns the commit number in the file of this device, authentic or not; nil if there is no file of this store, or it cannot be
    /// read. A forged one must not use up the numbers.
    func keptCommitNumber() -> Int64? { commitNumberStore.flatMap(keptCommitNumber) }

    package func keptCommitNumber(in commitNumberStore: any CommitNumberStore) -> Int64? {
        let number = unverifiedState(in: commitNumberStore)?.commit
        return number.flatMap { $0 < 1 << 62 ? $0 : nil }
    }

    /// Returns the cost in the file of this device, authentic or not; nil if there is no file of this store.
    package func keptCost() -> Argon2id.Cost? { commitNumberStore.flatMap(unverifiedState)?.cost }

    /// Stores the last durable state of the store, unless it is stored already.
    ///
    /// Has no effect before the first unlock, for a read-only store, and without a commit number store. Must be called
    /// after an unlock, after a lock, after a rotation, at the end, and otherwise at most once a minute (contract, S2).
    /// Waits for the disk, so it must not be called in a transaction, nor before a lock is complete.
    ///
    /// After a lock, and at the end, first writes the mark of this device if the store was changed since the last one.
    ///
    /// - Parameter isEnd: Whether the keys are wiped next.
    package func keepCommitNumber(isEnd: Bool = false) throws(KeychainFault) {
        let state = state
        guard state.isAfterFirstUnlock else { return }
        if isEnd || state != .unlocked { endSession() }
        try saveCommitNumber()
    }

    /// Writes the mark of this device if the store was changed since the last one. If that fails, the mark of the first change
    /// remains, and the next call tries again.
    private func endSession() {
        guard ledger.needsMark else { return }
        try? store.write(by: ledger) { (writer) throws(KeychainFault) in writer.requireMark() }
        // The lock has erased the log before this transaction.
        store.eraseLogSoon()
    }

    /// Stores the last durable state of the store, unless it is stored already. The header keys are known.
    func saveCommitNumber() throws(KeychainFault) {
        guard let commitNumberStore, !store.isReadOnly else { return }
        try numberWriting.withLock { (_) throws(KeychainFault) in
            do throws(KeychainFault) {
                try save(to: commitNumberStore)
                numbers.withLock { $0.fault = nil }
            } catch {
                numbers.withLock { $0.fault = error }
                throw error
            }
        }
    }

    private func save(to commitNumberStore: any CommitNumberStore) throws(KeychainFault) {
        let known = numbers.withLock { $0 }
        // Not that of the header: another program may have written another copy over the store.
        let (seen, keys) = try ledger.lastState()
        let stored = try commitNumberStore.load(for: storeID)
        // The user may have removed the file by mistake.
        guard known.kept != seen || stored == nil else { return }
        // Another process may have stored the state of another copy of the store. Only an explicit acceptance replaces
        // a state that is not older.
        if known.check != .accepted || known.kept != nil {
            guard try isReplaceable(stored, by: seen, keys) else { return }
        }
        let bytes = try DeviceFileRecord.encode(seen, store: storeID, key: keys.deviceFile)
        try commitNumberStore.save(bytes, for: storeID)
        numbers.withLock { $0.kept = seen }
    }

    /// Returns the number of the last transaction.
    package func commitNumber() throws(KeychainFault) -> Int64 {
        try ledger.read(store) { (_, header) in header.commit }
    }

    /// Whether the bytes of a file describe an older state, or none that is authentic. Those of a newer generation cannot be
    /// verified. A state of another copy is not older.
    private func isReplaceable(
        _ bytes: [UInt8]?, by seen: SeenState, _ keys: HeaderKeys
    ) throws(KeychainFault) -> Bool {
        guard let bytes else { return true }
        let found = try nilIfDamaged { () throws(KeychainFault) in
            try DeviceFileRecord(decoding: bytes, store: storeID)
        }
        guard let record = found else { return true }
        guard record.state.userKeyGeneration == seen.userKeyGeneration else {
            return record.state.userKeyGeneration < seen.userKeyGeneration
        }
        guard try record.isAuthentic(keys.deviceFile) else { return true }
        return record.state.refusal(of: seen) == nil
    }
}

extension KeyRing {
    /// Stores the state of this store, even if it is older than the stored one: it has been restored on purpose.
    package func setCommitNumber(in commitNumberStore: any CommitNumberStore) throws(KeychainFault) {
        try commitNumberStore.save(encodedState().bytes, for: storeID)
    }

    /// Returns the present state as the file of this device contains it.
    package func encodedState() throws(KeychainFault) -> EncodedState {
        let (seen, keys) = try ledger.lastState()
        return EncodedState(
            store: storeID, bytes: try DeviceFileRecord.encode(seen, store: storeID, key: keys.deviceFile))
    }

    /// The known states. Their mutex is not locked during accesses to store or disk, because `status` reads them.
    struct CommitNumberState {
        var check = RollbackCheck.none
        /// The reason for a refusal that the user has overridden.
        var accepted: KeychainFault?
        /// The stored state, as far as this process knows.
        var kept: SeenState?
        /// The error of the last save.
        var fault: KeychainFault?
    }
}
