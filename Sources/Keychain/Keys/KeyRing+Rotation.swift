package import SecretCrypto
import Synchronization

/// New keys for a keychain that is in use: what `slot remove` and `rekey` begin with (contract, L5).
extension KeyRing {
    /// The user key that an unlock secret opens, for what changes keys; of a passphrase one Argon2id. Wiped with the value.
    ///
    /// - Throws: as ``unlock(with:acceptingRollback:)``.
    package func userKey(with secret: borrowing UnlockSecret) throws(KeychainFault) -> SecretBytes {
        let records = try store.read { (reader) throws(KeychainFault) in try KeySnapshot(reader) }
        let root = try SlotUnlock.root(of: secret, store: records.store)
        return try SlotUnlock.userKey(root: root.bytes, kind: root.kind, slots: records.slots, store: records.store)
    }

    /// Starts a new user key, wrapped for every slot but those of `removed`, and a new generation of the class keys of this
    /// device, in one transaction. What is written when it returns, or later, is sealed under the new ones.
    ///
    /// Items are as they were: the keys of past generations stay in the store, under the new user key. In whatever state
    /// the keychain is locked, it stays so.
    ///
    /// - Parameters:
    ///   - userKey: the present one, of ``userKey(with:)``.
    ///   - body: what else belongs into the transaction; runs last, and sees the new slots and keys.
    /// - Returns: the slots that are gone: `removed`, and those that could not be kept because their record is damaged.
    /// - Throws: `interactionNotAllowed` before the first unlock; `authFailed` if it is not the user key any more; `param` if
    ///   no slot is left; `decode` if rows of keys are damaged; and what the store throws. Nothing is changed then.
    package func renewKeys(
        userKey: borrowing SecretBytes, removing removed: Set<Int64> = [],
        with body: (any RecordWriter) throws(KeychainFault) -> Void = { _ in }
    ) throws(KeychainFault) -> [Int64] {
        guard state.isAfterFirstUnlock else { throw .interactionNotAllowed }
        let (table, gone) = try store.write(by: ledger) { (writer) throws(KeychainFault) -> (KeyTable, [Int64]) in
            let rotation = try rotation(of: KeySnapshot(writer), userKey: userKey, removing: removed)
            try rotation.write(to: writer)
            let table = try startGeneration(writer, userKey: rotation.userKey, rotation.store.userKeyGeneration)
            try body(writer)
            return (table, rotation.removedSlots)
        }
        try install(table)
        return gone
    }

    func rotation(
        of records: KeySnapshot, userKey: borrowing SecretBytes, removing removed: Set<Int64>
    ) throws(KeychainFault) -> UserKeyRotation {
        let deviceID = records.device(tag: deviceTag)
        return try device.use(unavailable: .notAvailable) { (device) throws(KeychainFault) in
            try UserKeyRotation(of: records, userKey: userKey, device: device, deviceID: deviceID, removing: removed)
        }
    }

    /// Writes a new generation; the device is entered in the store if it is not yet. Returns all keys, opened before the
    /// commit: what cannot be installed is not committed either.
    func startGeneration(
        _ writer: any RecordWriter, userKey: borrowing SecretBytes, _ generation: Int64
    ) throws(KeychainFault) -> KeyTable {
        let keys = try wrappingKeys(userKey: userKey, generation: generation)
        let hasPassphrase = try KeySnapshot(writer).hasPassphrase(userKey: userKey)
        try KeySnapshot(writer).enrolment(tag: deviceTag, hasPassphrase: hasPassphrase).write(to: writer, keys: keys)
        let records = try KeySnapshot(writer)
        guard let device = records.device(tag: deviceTag) else { throw .decode }
        try NewKeyGeneration(after: records.classKeys, device: device, hasPassphrase: hasPassphrase, keys: keys)
            .write(to: writer)
        return try KeySnapshot(writer).table(tag: deviceTag, hasPassphrase: hasPassphrase, keys: keys)
    }

    /// Takes the keys over. Those of a locked class are wiped again at once (of UnlessOpen the public key stays), and those
    /// that the last passphrase slot has taken with it.
    func install(_ table: KeyTable) throws(KeychainFault) {
        let isClosed = transition.withLock { _ in
            let (useless, retired, isClosed) = current.withLock { state -> ([ClassKeys], [RevocableSecret], Bool) in
                guard !state.isClosed else { return (table.opened { _ in true }, [], true) }
                let places = table.withheld
                let withheld = state.table.withhold(places)
                let retired = state.retired.inUse { purpose in places.contains { $0.purpose == purpose } }
                state.table.merge(table)
                let locked = state.lock == .unlocked ? [] : state.table.opened { $0 == .unlocked }
                return (withheld + locked, retired, false)
            }
            for keys in useless { keys.revoke() }
            for secret in retired { secret.revoke() }
            return isClosed
        }
        if isClosed { throw .notAvailable }
        rekeying.didRotateKeys()
    }
}
