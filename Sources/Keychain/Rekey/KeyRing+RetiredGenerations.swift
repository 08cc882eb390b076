import SecretCrypto
import Synchronization

/// The keys at the start and the end of a rekey (contract, L5).
extension KeyRing {
    /// Rotates the keys for a rekey, after recording it, so that the rekey continues even if the program ends after the
    /// commit.
    ///
    /// - Returns: The slots that were removed because their records are damaged or forged.
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

    /// Whether the store has the keys of the rekey's start. Otherwise the program ended before the commit, or an older
    /// copy of the store replaced it.
    func hasRekeyBegun() throws(KeychainFault) -> Bool {
        guard let begun = rekeyStateStore?.rekeyGeneration(of: storeID) else { return true }
        return try store.read { (reader) throws(KeychainFault) in try reader.store() }.userKeyGeneration >= begun
    }

    /// Returns the generations of this device's class keys that newer ones have replaced.
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

    /// Removes the keys of old generations that no item uses from the store and from memory, and the past user keys
    /// that no class keys need.
    ///
    /// - Returns: The number of items that still use one of them, whose keys stay.
    func removeKeys(of old: Set<KeyGeneration>) throws(KeychainFault) -> Int {
        let counts = try store.write(by: ledger) { (writer) throws(KeychainFault) in
            try writer.verifyKeys(KeySnapshot(writer))
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

    /// Keeps the past user keys that another device needs until its next unlock.
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
    /// The generation as rows refer to it; nil for the Always lookup keys, which have one generation.
    var keyGeneration: KeyGeneration? {
        if case .protection(let protection) = purpose { KeyGeneration(protection, generation) } else { nil }
    }
}
