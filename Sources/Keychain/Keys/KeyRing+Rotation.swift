package import SecretCrypto
import Synchronization

/// Rotates the keys of a keychain that is in use, for `slot remove` and `rekey` (contract, L5).
extension KeyRing {
    /// Opens the user key with an unlock secret, for operations that change keys. A passphrase costs one Argon2id.
    /// Wiped with the value.
    ///
    /// - Throws: The errors of ``unlock(with:acceptingRollback:)``.
    package func userKey(with secret: borrowing UnlockSecret) throws(KeychainFault) -> SecretBytes {
        let records = try store.read { (reader) throws(KeychainFault) in try KeySnapshot(reader) }
        let root = try SlotUnlock.root(of: secret, store: records.store)
        return try SlotUnlock.userKey(root: root.bytes, kind: root.kind, slots: records.slots, store: records.store)
    }

    /// Creates a new user key, wrapped for every slot except those of `removed`, and a new generation of this device's
    /// class keys, in one transaction. Later writes use the new keys.
    ///
    /// Items stay unchanged: the keys of past generations stay in the store, wrapped under the new user key. The lock
    /// state stays the same.
    ///
    /// - Parameters:
    ///   - userKey: The present user key, a result of ``userKey(with:)``.
    ///   - body: Further changes of the transaction. Called last, with the new slots and keys.
    /// - Returns: The removed slots: `removed`, and those whose record is damaged.
    /// - Throws: `interactionNotAllowed` before the first unlock; `authFailed` if it is no longer the user key; `param`
    ///   if no slot would remain; `decode` if rows of keys are damaged; the errors of the store. Nothing is changed
    ///   then.
    func renewKeys(
        userKey: borrowing SecretBytes, removing removed: Set<Int64> = [],
        with body: (DigestingWriter) throws(KeychainFault) -> Void = { _ in }
    ) throws(KeychainFault) -> [Int64] {
        guard state.isAfterFirstUnlock else { throw .interactionNotAllowed }
        let (table, gone) = try store.write(by: ledger) { (writer) throws(KeychainFault) -> (KeyTable, [Int64]) in
            let records = try KeySnapshot(writer)
            try writer.verifyKeys(records)
            let rotation = try rotation(of: records, userKey: userKey, removing: removed)
            try rotation.write(to: writer)
            let table = try startGeneration(writer, userKey: rotation.userKey, rotation.store.userKeyGeneration)
            try body(writer)
            return (table, rotation.removedSlots)
        }
        try install(table)
        // Until then the holder of a removed slot could create a header of the generation that the file names.
        try? keepCommitNumber()
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

    /// Writes a new generation, and enrolls the device if necessary. Returns all keys, opened before the commit, so
    /// that keys that cannot be installed are not committed.
    func startGeneration(
        _ writer: any RecordWriter, userKey: borrowing SecretBytes, _ generation: Int64
    ) throws(KeychainFault) -> KeyTable {
        let keys = try wrappingKeys(userKey: userKey, generation: generation)
        let hasPassphrase = try KeySnapshot(writer).hasPassphrase(userKey: userKey)
        try KeySnapshot(writer).enrollment(tag: deviceTag, hasPassphrase: hasPassphrase).write(to: writer, keys: keys)
        let records = try KeySnapshot(writer)
        guard let device = records.device(tag: deviceTag) else { throw .decode }
        try NewKeyGeneration(after: records.classKeys, device: device, hasPassphrase: hasPassphrase, keys: keys)
            .write(to: writer)
        return try KeySnapshot(writer).table(tag: deviceTag, hasPassphrase: hasPassphrase, keys: keys)
    }

    /// Installs the keys. Wipes those of a locked class again immediately (except WhenUnlockedUnlessOpen's public key),
    /// and those that were removed with the last passphrase slot.
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
