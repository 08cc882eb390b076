import SecretCrypto
import Synchronization

/// What a rekey does to keys at its begin and at its end (contract, L5).
extension KeyRing {
    /// Starts new keys for a rekey, which is noted before: what ends the program from the commit on does not end the rekey.
    ///
    /// - Returns: slots that nobody vouched for, damaged or forged: they are gone.
    func startRekey(userKey: borrowing SecretBytes) throws(KeychainFault) -> [Int64] {
        let present = try store.read { (reader) throws(KeychainFault) in try reader.store() }.userKeyGeneration
        try rekeyStateStore?.keep(rekeyGeneration: present + 1, of: storeID)
        do throws(KeychainFault) {
            return try renewKeys(userKey: userKey)
        } catch {
            try? rekeyStateStore?.keep(rekeyGeneration: nil, of: storeID)
            throw error
        }
    }

    /// Whether the store has the keys that a rekey began with: else it ended before it began, or an older copy of the store
    /// has been put in its place.
    func hasRekeyBegun() throws(KeychainFault) -> Bool {
        guard let begun = rekeyStateStore?.rekeyGeneration(of: storeID) else { return true }
        return try store.read { (reader) throws(KeychainFault) in try reader.store() }.userKeyGeneration >= begun
    }

    /// The generations of this device's class keys that newer ones have replaced.
    ///
    /// - Throws: `interactionNotAllowed` unless unlocked.
    func oldGenerations() throws(KeychainFault) -> Set<KeyGeneration> {
        guard state == .unlocked else { throw .interactionNotAllowed }
        let records = try store.read { (reader) throws(KeychainFault) in try KeySnapshot(reader) }
        let device = records.device(tag: deviceTag)
        var old: Set<KeyGeneration> = []
        for record in records.classKeys where record.isLegitimate {
            guard case .protection(let protection) = record.purpose,
                !record.purpose.isThisDeviceOnly || record.device == device,
                let newest = try? currentKeys(for: protection), record.generation < newest.generation
            else { continue }
            old.insert(KeyGeneration(protection, record.generation))
        }
        return old
    }

    /// Removes the keys of old generations that no item needs any more, from the store and from memory, and the user keys of
    /// the past that no class keys need.
    ///
    /// - Returns: how many items still lie under one of them: its keys stay.
    func removeKeys(of old: Set<KeyGeneration>) throws(KeychainFault) -> Int {
        let counts = try store.write(by: ledger) { (writer) throws(KeychainFault) in
            let counts = try writer.itemCounts(of: old)
            for record in try writer.classKeys() where record.isLegitimate {
                guard let generation = record.keyGeneration, old.contains(generation), counts[generation] == nil
                else { continue }
                try writer.deleteClassKey(record)
            }
            try removePastUserKeys(writer)
            return counts
        }
        let removed = old.subtracting(counts.keys)
        current.withLock { $0.retired.add($0.table.remove(removed)) }
        return counts.values.reduce(0, +)
    }

    /// Another device still needs one for what it has under it, until its next unlock.
    private func removePastUserKeys(_ writer: any RecordWriter) throws(KeychainFault) {
        let needed = Set(
            try writer.classKeys().filter { $0.isLegitimate && $0.wrapping == .userAndDeviceKey }
                .map(\.userKeyGeneration))
        for record in try writer.userKeys() where !needed.contains(record.generation) {
            try writer.deleteUserKey(record.generation)
        }
    }
}

extension ClassKeyRecord {
    /// As rows name it; nil for the Always look-up keys, which have one generation.
    var keyGeneration: KeyGeneration? {
        if case .protection(let protection) = purpose { KeyGeneration(protection, generation) } else { nil }
    }
}
