package import SecretCrypto
import Synchronization

extension KeyRing {
    /// Unlocks with a passphrase: one Argon2id, then every key that it opens. Verifies the passphrase if the keychain
    /// is unlocked already. Enrolls a device that is new to the store, if the store can be written.
    ///
    /// - Parameter acceptingRollback: At the first unlock, whether to accept a store that is older than the state that
    ///   this device has seen.
    /// - Throws: `rolledBack`, `forked`, `missingChanges`, `untrustedCommitNumber`, `missingCommitNumber`, `authFailed`,
    ///   `unacceptableCost`, `allocate`; `decode` if the store's own keys are damaged; `interactionNotAllowed` after a lock
    ///   in the meantime, which takes precedence;
    ///   `notAvailable` after ``close()``; the errors of the store.
    package func unlock(
        passphrase: borrowing SecretBytes, acceptingRollback: Bool = false
    ) throws(KeychainFault) {
        let began = try beginning()
        let records = try keySnapshot()
        let root = try SlotUnlock.root(passphrase: passphrase, store: records.store)
        try unlock(
            root: root, kind: .passphrase, records: records, began: began, acceptingRollback: acceptingRollback)
    }

    /// Unlocks with a secret of any type. Only a passphrase costs an Argon2id.
    package func unlock(
        with secret: borrowing UnlockSecret, acceptingRollback: Bool = false
    ) throws(KeychainFault) {
        let began = try beginning()
        try unlock(root: root(of: secret), began: began, acceptingRollback: acceptingRollback)
    }

    /// Unlocks with the root key of a slot.
    package func unlock(root: borrowing SlotRootKey, acceptingRollback: Bool = false) throws(KeychainFault) {
        try unlock(root: root, began: beginning(), acceptingRollback: acceptingRollback)
    }

    private func unlock(
        root: borrowing SlotRootKey, began: Int, acceptingRollback: Bool
    ) throws(KeychainFault) {
        let records = try keySnapshot()
        guard root.fits(records.store) else { throw .inUse(processID: 0) }
        try unlock(
            root: root.bytes, kind: root.kind, records: records, began: began, acceptingRollback: acceptingRollback)
    }

    /// Returns the value that ``install(_:master:began:)`` compares: a key derivation takes a second, and a lock in the
    /// meantime takes precedence.
    private func beginning() throws(KeychainFault) -> Int {
        let (isClosed, lockCount) = current.withLock { ($0.isClosed, $0.lockCount) }
        guard !isClosed else { throw .notAvailable }
        return lockCount
    }

    /// Derives the root key of a secret in this store; for a passphrase with the one Argon2id. Opens nothing.
    ///
    /// - Throws: `unacceptableCost`, `allocate`; `notAvailable` after ``close()``; the errors of the store.
    package func root(of secret: borrowing UnlockSecret) throws(KeychainFault) -> SlotRootKey {
        guard !current.withLock({ $0.isClosed }) else { throw .notAvailable }
        let record = try store.read { (reader) throws(KeychainFault) in try reader.store() }
        return try SlotUnlock.root(of: secret, store: record)
    }

    /// Returns the cost of deriving a key from the passphrase in this store. The row is not authenticated before a slot
    /// has been opened.
    package func passphraseCost() throws(KeychainFault) -> Argon2id.Cost {
        try store.read { (reader) throws(KeychainFault) in try reader.store().cost }
    }

    /// Verifies that a root key opens a slot of the store. Unlocks nothing.
    ///
    /// - Throws: `authFailed` if it opens none.
    package func verify(_ root: borrowing SlotRootKey) throws(KeychainFault) {
        let records = try keySnapshot()
        _ = try records.userKey(openedBy: root).count
    }

    /// Unlocks with a slot's root key. The user key has been wiped on return.
    func unlock(root: borrowing SecretBytes, kind: SlotKind, records: KeySnapshot) throws(KeychainFault) {
        try unlock(root: root, kind: kind, records: records, began: beginning(), acceptingRollback: false)
    }

    private func unlock(
        root: borrowing SecretBytes, kind: SlotKind, records: KeySnapshot, began: Int, acceptingRollback: Bool
    ) throws(KeychainFault) {
        let userKey = try SlotUnlock.userKey(
            root: root, kind: kind, slots: records.slots, store: records.store)
        guard state != .unlocked else { return transition.withLock { _ in notifyObservers() } }
        let master = try KeychainFault.masterKeys(of: records.store, userKey: userKey)
        let header = try verify(
            records, userKey: userKey, isRekeying: master.areSeveral, acceptingRollback: acceptingRollback)
        try raiseAcceptedCommit()
        let keys = try wrappingKeys(userKey: userKey, generation: records.store.userKeyGeneration)
        let renewed = try renewed(records, userKey: userKey, keys: keys)
        let hasPassphrase = try records.hasPassphrase(userKey: userKey)
        let complete = try enrolled(records, hasPassphrase, renewed: renewed, keys: keys)
        let table = try complete.table(tag: deviceTag, hasPassphrase: hasPassphrase, keys: keys)
        if commitNumberStore != nil, !isExamination { ledger.beginSession() }
        try install(
            table, master: master,
            rekey: RekeyOwner(header?.rekeyDevice ?? 0, thisDevice: complete.device(tag: deviceTag)), began: began)
        // The store of commit numbers reports a failure.
        try? keepCommitNumber()
    }

    /// Verifies header, rows of keys and the state that this device has seen, before any of the keys is used.
    ///
    /// - Parameter isRekeying: Whether there are several sets of master keys. Only then the header names a device that
    ///   runs a rekey.
    /// - Returns: The header; nil for a damaged one in an examination.
    /// - Throws: `decode` for a damaged header, for rows of keys that differ from their sum, and after the first unlock
    ///   for another state than that of the last transaction of this program.
    private func verify(
        _ records: KeySnapshot, userKey: borrowing SecretBytes, isRekeying: Bool, acceptingRollback: Bool
    ) throws(KeychainFault) -> StoreHeader? {
        let keys = try headerKeys(userKey, records.store.userKeyGeneration)
        let header = try verifiedHeader(records, keys, isRekeying: isRekeying)
        guard state == .beforeFirstUnlock else {
            try verifyLastCommit()
            return header
        }
        try checkRollback(
            records, userKey: userKey, keys: keys, header: header, acceptingRollback: acceptingRollback)
        let next = try store.read { (reader) throws(KeychainFault) in
            try reader.firstUnusedRowID(from: header?.nextRow ?? .first)
        }
        let mark = records.mark(tag: deviceTag)
        ledger.adopt(
            keys, nextRow: next, last: header.map { SeenState($0, of: records.store, keys: keys, mark: mark) },
            device: deviceTag)
        return header
    }

    /// Returns the header, whose sum is that of the rows of keys; nil for a damaged one in an examination.
    private func verifiedHeader(
        _ records: KeySnapshot, _ keys: HeaderKeys, isRekeying: Bool
    ) throws(KeychainFault) -> StoreHeader? {
        do throws(KeychainFault) {
            let digest = RowDigest(keys)
            let header = try digest.header(of: records.store)
            guard !isExamination else { return header }
            guard !records.isDamaged, try digest.sum(records) == header.sums.keys,
                isRekeying == (header.rekeyDevice != 0)
            else { throw .decode }
            return header
        } catch .decode where isExamination {
            return nil
        }
    }

    /// Requires that no other program has replaced the store since the last transaction of this one.
    private func verifyLastCommit() throws(KeychainFault) {
        guard !isExamination else { return }
        try store.readExclusively { (reader) throws(KeychainFault) in try verifyLastCommit(reader) }
    }

    /// Requires that the store is in the state of the last transaction of this program.
    ///
    /// - Parameter reader: Excludes transactions.
    /// - Throws: `decode`; `interactionNotAllowed` before the first unlock.
    package func verifyLastCommit(_ reader: any RecordReader) throws(KeychainFault) {
        guard try ledger.lastHeader(of: reader.store()) != nil else { throw .decode }
    }

    /// Returns the wrapping keys of a user key, present or past, and this device.
    func wrappingKeys(
        userKey: borrowing SecretBytes, generation: Int64
    ) throws(KeychainFault) -> WrappingKeys {
        do throws(CryptoError) {
            return try device.use { (device) throws(CryptoError) in
                try WrappingKeys(user: userKey, generation: generation, device: device, store: storeID)
            }
        } catch .keyUnavailable {
            throw .notAvailable
        } catch {
            throw KeychainFault(error)
        }
    }

    /// Writes the records of this device that are missing or outdated. Continues without them if there is no space or
    /// permission.
    private func enrolled(
        _ found: KeySnapshot, _ hasPassphrase: Bool, renewed: [ClassKeyRecord], keys: borrowing WrappingKeys
    ) throws(KeychainFault) -> KeySnapshot {
        let records = found.replacing(renewed)
        let isComplete =
            isExamination || renewed.isEmpty && records.enrollment(tag: deviceTag, hasPassphrase: hasPassphrase).isEmpty
        guard !store.isReadOnly, !isComplete, !found.isDamaged else { return records }
        guard isStateSaved(beforeEnrolling: found) else { return records }
        do throws(KeychainFault) {
            return try store.write(by: ledger) { (writer) throws(KeychainFault) in
                for record in renewed { try writer.put(record) }
                // Read again, because the enrollment must match the present records.
                let present = try KeySnapshot(writer)
                try writer.verifyKeys(present)
                try present.enrollment(tag: deviceTag, hasPassphrase: hasPassphrase)
                    .write(to: writer, keys: keys)
                return try KeySnapshot(writer)
            }
        } catch .readOnly {
            return records
        } catch .diskFull {
            return records
        } catch {
            throw error
        }
    }

    /// Whether the state of the store is stored before a new device gets its row: with the row but without a stored state,
    /// the next unlock would be refused. The store of commit numbers reports a failure.
    private func isStateSaved(beforeEnrolling found: KeySnapshot) -> Bool {
        guard !found.devices.contains(where: { $0.tag == deviceTag }) else { return true }
        do throws(KeychainFault) {
            try saveCommitNumber()
            return true
        } catch {
            return false
        }
    }

    private func install(
        _ table: KeyTable, master: MasterKeySets, rekey: RekeyOwner, began: Int
    ) throws(KeychainFault) {
        try transition.withLock { (_) throws(KeychainFault) in
            let dropped = try current.withLock { (state) throws(KeychainFault) -> [ClassKeys]? in
                guard !state.isClosed else { throw .notAvailable }
                guard state.lockCount == began else { throw .interactionNotAllowed }
                // Another thread has unlocked, and may have rotated the keys since.
                guard state.lock != .unlocked else { return nil }
                return state.unlock(table, master)
            }
            if let dropped {
                for keys in dropped { keys.revoke() }
                verification.unlocked()
                rewrapping.unlocked()
                rekeying.unlocked(rekey)
            }
            notifyObservers()
        }
    }
}

extension KeyRing.State {
    /// Unlocks. Returns the keys that are no longer in use, for the caller to revoke.
    fileprivate mutating func unlock(_ table: KeyTable, _ master: MasterKeySets) -> [ClassKeys] {
        var dropped: [ClassKeys] = []
        if self.master == nil {
            // A thief of the device key may have planted keys for the time before the first unlock.
            dropped = self.table.replace(by: table)
        } else {
            self.table.merge(table)
        }
        lock = lock.unlocking
        // A lock has revoked the former key that seals them.
        _ = replace(master)
        return dropped
    }
}

extension KeychainFault {
    fileprivate static func masterKeys(
        of record: StoreRecord, userKey: borrowing SecretBytes
    ) throws(KeychainFault) -> MasterKeySets {
        do throws(CryptoError) {
            return try MasterKeyMaterial(opening: record, userKey: userKey)
                .keys(sealedBy: MasterKeyMaterial.key(userKey: userKey, store: record.identifier))
        } catch {
            throw KeychainFault(error)
        }
    }
}
