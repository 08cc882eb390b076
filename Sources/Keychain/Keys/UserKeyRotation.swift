import SecretCrypto

/// A new user key and all records that it seals, to be written in one transaction (contract, S3, L5).
///
/// Its recipients are those sealed under the present user key, never those of readable records: an attacker who can
/// only write to the file adds no recipient.
struct UserKeyRotation: ~Copyable {
    /// The new user key. Wiped at the end of the value's lifetime.
    let userKey: SecretBytes
    /// The keys of the header under the new user key.
    let headerKeys: HeaderKeys
    /// The store record with the next generation and the master keys under the new user key.
    let store: StoreRecord
    /// The master keys; with a new set during a rekey.
    let masterKeys: MasterKeySets
    /// The records of all slots that are kept.
    let slots: [SlotRecord]
    /// The slots that are removed, or whose recipient is not authentic and so cannot be kept.
    let removedSlots: [Int64]
    /// The wrappings by the user key, and this device's by both keys. Other devices renew theirs at their next unlock.
    let classKeys: [ClassKeyRecord]
    /// All past user keys, including the replaced one.
    let pastUserKeys: [UserKeyRecord]

    /// Creates a rotation.
    ///
    /// - Parameters:
    ///   - userKey: The present user key; otherwise `authFailed`, because another process has rotated it.
    ///   - device: The device key of the device with the number `deviceID` (nil: not enrolled).
    ///   - removed: The slots for which the new user key is not wrapped; `param` if no slot would remain.
    ///   - isRekey: Whether a rekey begins. In a rekey in progress each rotation creates a set of master keys, too,
    ///     because a removed slot knows the newest one.
    /// - Throws: `decode` for a store with damaged rows of keys, or without a further generation; `inUse` if a rekey in
    ///   progress has too many sets.
    init(
        of records: KeySnapshot, userKey old: borrowing SecretBytes, device: borrowing SecretBytes, deviceID: Int64?,
        removing removed: Set<Int64>, isRekey: Bool = false
    ) throws(KeychainFault) {
        let (present, next) = (records.store.userKeyGeneration, records.store.userKeyGeneration + 1)
        guard !records.isDamaged, ClassKeyRecord.numbers.contains(next) else { throw .decode }
        let master = try Self.masterKeys(of: records.store, userKey: old).renewed(isRekey: isRekey)
        let identifier = records.store.identifier
        let new = try KeychainFault.translating { () throws(CryptoError) in
            try SecretBytes(randomCount: AEAD.keyCount)
        }
        let sealed = try KeychainFault.translating { () throws(CryptoError) in
            let oldKeys = try WrappingKeys(user: old, generation: present, device: device, store: identifier)
            let newKeys = try WrappingKeys(user: new, generation: next, device: device, store: identifier)
            var store = records.store
            store.userKeyGeneration = next
            try master.seal(into: &store, userKey: new)
            return (
                store, try records.slots(under: old, except: removed, wrappedFor: new, generation: next),
                try records.classKeys(of: deviceID, openedBy: oldKeys, under: newKeys),
                try records.userKeys(under: old, sealedBy: new, generation: next)
            )
        }
        let kept = Set(sealed.1.map(\.id))
        guard !kept.isEmpty else { throw .param }
        let keys = try KeychainFault.translating { () throws(CryptoError) in
            (
                try HeaderKeys(userKey: new, generation: next, store: identifier),
                try master.keys(sealedBy: MasterKeyMaterial.key(userKey: new, store: identifier))
            )
        }
        (headerKeys, masterKeys) = keys
        userKey = new
        (store, slots, classKeys, pastUserKeys) = sealed
        removedSlots = records.slots.map(\.id).filter { !kept.contains($0) }
    }

    /// Replaces the present records. Deletes slots that are not kept.
    func write(to writer: DigestingWriter) throws(KeychainFault) {
        writer.rotate(to: headerKeys)
        try writer.put(store)
        for slot in removedSlots { try writer.deleteSlot(slot) }
        for slot in slots { try writer.put(slot) }
        for record in classKeys { try writer.put(record) }
        for record in pastUserKeys { try writer.put(record) }
    }

    private static func masterKeys(
        of store: StoreRecord, userKey: borrowing SecretBytes
    ) throws(KeychainFault) -> MasterKeyMaterial {
        do throws(CryptoError) {
            return try MasterKeyMaterial(opening: store, userKey: userKey)
        } catch .authenticationFailed {
            throw .authFailed
        } catch {
            throw KeychainFault(error)
        }
    }
}

extension MasterKeyMaterial {
    /// Returns the sets under the next user key.
    ///
    /// - Throws: `inUse` for more sets than a rekey in progress may have; `decode` without a further generation.
    fileprivate consuming func renewed(isRekey: Bool) throws(KeychainFault) -> MasterKeyMaterial {
        guard isRekey || count > 1 else { return self }
        guard count < Self.maximumCount else { throw .inUse(processID: 0) }
        guard ClassKeyRecord.numbers.contains(generation + 1) else { throw .decode }
        do throws(CryptoError) {
            return try appendingSet()
        } catch {
            throw KeychainFault(error)
        }
    }
}

extension KeySnapshot {
    /// Returns the slots that are authentic for the present user key `old`, wrapped for the new one.
    fileprivate func slots(
        under old: borrowing SecretBytes, except removed: Set<Int64>, wrappedFor new: borrowing SecretBytes,
        generation: Int64
    ) throws(CryptoError) -> [SlotRecord] {
        var wrapped: [SlotRecord] = []
        for slot in slots where !removed.contains(slot.id) && slot.userKeyGeneration == store.userKeyGeneration {
            let address = SlotAddress(
                store: store.identifier, id: slot.id, kind: slot.kind, userKeyGeneration: generation,
                parameters: slot.parameters)
            do throws(CryptoError) {
                let recipient = try slot.recipient(userKey: old, store: store.identifier)
                wrapped.append(try SlotRecord(wrapping: new, for: recipient, at: address))
            } catch  where error.isOfRecord {
                continue
            }
        }
        return wrapped
    }

    /// Rewraps the records that are wrapped under the present user key. Damaged records stay unchanged.
    fileprivate func classKeys(
        of device: Int64?, openedBy old: borrowing WrappingKeys, under new: borrowing WrappingKeys
    ) throws(CryptoError) -> [ClassKeyRecord] {
        var rewrapped: [ClassKeyRecord] = []
        for record in classKeys where record.isLegitimate && record.userKeyGeneration == store.userKeyGeneration {
            guard record.device == 0 || record.device == device else { continue }
            do throws(CryptoError) {
                rewrapped.append(try new.rewrap(record, openedBy: old))
            } catch  where error.isOfRecord {
                continue
            }
        }
        return rewrapped
    }

    private func isPast(_ record: UserKeyRecord) -> Bool { record.generation < store.userKeyGeneration }

    fileprivate func userKeys(
        under old: borrowing SecretBytes, sealedBy new: borrowing SecretBytes, generation: Int64
    ) throws(CryptoError) -> [UserKeyRecord] {
        let (present, identifier) = (store.userKeyGeneration, store.identifier)
        var sealed = [
            try UserKeyRecord(sealing: old, generation: present, under: new, present: generation, store: identifier)
        ]
        for record in userKeys where isPast(record) {
            do throws(CryptoError) {
                let past = try record.userKey(openedBy: old, present: present, store: identifier)
                sealed.append(
                    try UserKeyRecord(
                        sealing: past, generation: record.generation, under: new, present: generation,
                        store: identifier))
            } catch  where error.isOfRecord {
                continue
            }
        }
        return sealed
    }
}

extension CryptoError {
    /// Whether the error means that a record is not authentic.
    fileprivate var isOfRecord: Bool { self == .authenticationFailed || self == .invalidParameter }
}
