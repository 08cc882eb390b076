package import SecretCrypto
import Synchronization

/// Rotates the keys of a keychain that is in use, for `slot remove` and `rekey` (contract, L5).
extension KeyRing {
    /// Opens the user key with an unlock secret, for operations that change keys. A passphrase costs one Argon2id.
    /// Wiped with the value.
    ///
    /// - Throws: The errors of ``unlock(with:acceptingRollback:)``.
    package func userKey(with secret: borrowing UnlockSecret) throws(KeychainFault) -> SecretBytes {
        let records = try keySnapshot()
        let root = try SlotUnlock.root(of: secret, store: records.store)
        return try SlotUnlock.userKey(root: root.bytes, kind: root.kind, slots: records.slots, store: records.store)
    }

    /// Creates a new user key, wrapped for every slot except those of `removed`, and a new generation of class keys, in
    /// one transaction; for a rekey also a new set of master keys. Later writes use the new keys.
    ///
    /// Items stay unchanged: the keys of past generations stay in the store, wrapped under the new user key. The lock
    /// state stays the same.
    ///
    /// - Parameters:
    ///   - userKey: The present user key, a result of ``userKey(with:)``.
    ///   - extent: The other keys that are renewed.
    /// - Returns: The removed slots: `removed`, and those whose record is damaged.
    /// - Throws: `interactionNotAllowed` before the first unlock; `authFailed` if it is no longer the user key; `param`
    ///   if no slot would remain; `decode` if rows of keys are damaged; `inUse` if a rekey in progress has too many
    ///   sets of master keys; the errors of the store. Nothing is changed then.
    func renewKeys(
        userKey: borrowing SecretBytes, removing removed: Set<Int64> = [], extent: RotationExtent = .classKeys
    ) throws(KeychainFault) -> [Int64] {
        guard state.isAfterFirstUnlock else { throw .interactionNotAllowed }
        let (keys, gone) = try store.write(by: ledger) { (writer) throws(KeychainFault) -> (RotatedKeys, [Int64]) in
            let records = try KeySnapshot(writer)
            try writer.verifyKeys(records)
            return try rotate(records, writer, userKey: userKey, removing: removed, extent: extent)
        }
        try install(keys.table, master: keys.master)
        // Until then the holder of a removed slot could create a header of the generation that the file names. A failure is the
        // caller's to report (``stateFault``).
        try? keepCommitNumber()
        return gone
    }

    /// Rotates the keys in a transaction. Returns the new keys, and the removed slots.
    func rotate(
        _ records: KeySnapshot, _ writer: DigestingWriter, userKey: borrowing SecretBytes,
        removing removed: Set<Int64> = [], extent: RotationExtent = .classKeys
    ) throws(KeychainFault) -> (RotatedKeys, [Int64]) {
        let deviceID = records.device(tag: deviceTag)
        let rotation = try device.use(unavailable: .notAvailable) { (device) throws(KeychainFault) in
            try UserKeyRotation(
                of: records, userKey: userKey, device: device, deviceID: deviceID, removing: removed,
                isRekey: extent == .rekey)
        }
        try rotation.write(to: writer)
        let (table, device) = try startGeneration(
            writer, userKey: rotation.userKey, rotation.store.userKeyGeneration,
            includingDevice: extent != .classKeys)
        if extent == .rekey { writer.setRekeyDevice(device) }
        return (RotatedKeys(table: table, master: rotation.masterKeys), rotation.removedSlots)
    }

    /// Writes a new generation, and enrolls the device if necessary. Returns all keys, opened before the commit, so
    /// that keys that cannot be installed are not committed, and the number of the device.
    private func startGeneration(
        _ writer: any RecordWriter, userKey: borrowing SecretBytes, _ generation: Int64, includingDevice: Bool
    ) throws(KeychainFault) -> (KeyTable, device: Int64) {
        let keys = try wrappingKeys(userKey: userKey, generation: generation)
        let hasPassphrase = try KeySnapshot(writer).hasPassphrase(userKey: userKey)
        try KeySnapshot(writer).enrollment(tag: deviceTag, hasPassphrase: hasPassphrase).write(to: writer, keys: keys)
        let records = try KeySnapshot(writer)
        guard let device = records.device(tag: deviceTag) else { throw .decode }
        try NewKeyGeneration(
            after: records.classKeys, device: device, includingDevice: includingDevice, hasPassphrase: hasPassphrase,
            keys: keys
        ).write(to: writer)
        return (try KeySnapshot(writer).table(tag: deviceTag, hasPassphrase: hasPassphrase, keys: keys), device)
    }

    /// Installs the keys. Wipes those of a locked class again immediately (except WhenUnlockedUnlessOpen's public key),
    /// and those that were removed with the last passphrase slot.
    ///
    /// - Parameter master: Nil if the present ones stay.
    func install(_ table: KeyTable, master: MasterKeySets? = nil) throws(KeychainFault) {
        let isClosed = transition.withLock { _ in
            let (useless, secrets, isClosed) = current.withLock { state -> ([ClassKeys], [RevocableSecret], Bool) in
                guard !state.isClosed else { return (table.opened { _ in true }, [], true) }
                let places = table.withheld
                let withheld = state.table.withhold(places)
                var secrets = state.retired.inUse { purpose in places.contains { $0.purpose == purpose } }
                state.table.merge(table)
                if let master { secrets += [state.replace(master)].compactMap(\.self) }
                let locked = state.lock == .unlocked ? [] : state.table.opened { $0 == .unlocked }
                return (withheld + locked, secrets, false)
            }
            for keys in useless { keys.revoke() }
            for secret in secrets { secret.revoke() }
            return isClosed
        }
        if isClosed { throw .notAvailable }
    }
}

/// The keys that a rotation renews besides the user key.
enum RotationExtent {
    /// Class keys that the user key alone seals: those that the holder of a removed slot knows.
    case classKeys
    /// Also the keys of this device's classes.
    case allClassKeys
    /// Also the master keys: a rekey begins, which this device runs.
    case rekey
}

/// The keys of a rotation, to be installed when it is durable.
struct RotatedKeys {
    let table: KeyTable
    let master: MasterKeySets
}
