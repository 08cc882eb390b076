import SecretCrypto
import Synchronization

/// The keys at the start and the end of a rekey (contract, L5).
extension KeyRing {
    /// Returns the keys that newer ones have replaced: master keys, and this device's class keys.
    ///
    /// - Throws: `interactionNotAllowed` unless unlocked.
    func oldKeys() throws(KeychainFault) -> OldKeys {
        guard state == .unlocked else { throw .interactionNotAllowed }
        let records = try keySnapshot()
        let device = records.device(tag: deviceTag)
        var old: Set<KeyGeneration> = []
        for record in records.classKeys where record.isLegitimate {
            guard case .protection(let protection) = record.purpose,
                !record.purpose.isThisDeviceOnly || record.device == device,
                let newest = try? currentKeys(for: protection), record.generation < newest.generation
            else { continue }
            old.insert(KeyGeneration(protection, record.generation))
        }
        return OldKeys(old, mastersBefore: records.store.masterKeyGeneration)
    }

    /// Removes the old class keys that no item and no past value uses from the store and from memory. If no more rows than the damaged
    /// ones are left under old keys, also removes the old master keys, which ends the rekey.
    ///
    /// - Parameter damaged: The numbers of rows that cannot be opened.
    /// - Returns: The number of items that are left, and whether the rekey has ended.
    /// - Throws: `interactionNotAllowed` after a lock; `decode` if rows of keys are damaged; the errors of the store.
    func removeKeys(of old: OldKeys, damaged: OldRowCounts) throws(KeychainFault) -> (left: Int, isEnd: Bool) {
        let (used, left, isEnd) = try store.write(by: ledger) {
            (writer) throws(KeychainFault) -> (Set<KeyGeneration>, Int, Bool) in
            try writer.verifyKeys(KeySnapshot(writer))
            let used = try writer.usedKeys(of: old.generations)
            for record in try writer.classKeys() where record.isLegitimate {
                guard let generation = record.keyGeneration, old.generations.contains(generation),
                    !used.contains(generation)
                else { continue }
                try writer.deleteClassKey(record)
            }
            let left = try writer.rowCounts(of: old)
            guard left.isWithin(damaged) else { return (used, left.items, false) }
            return (used, left.items, try removeMasterKeys(of: old, writer))
        }
        // Reads that began earlier may still open rows under the old keys.
        store.awaitReads()
        let secrets = current.withLock { state -> RevocableSecret? in
            state.retired.add(state.table.remove(old.generations.subtracting(used)))
            guard isEnd, let master = state.master, master.newest.generation == old.masterGeneration else { return nil }
            state.master = master.withoutOlder
            return master.sealing
        }
        secrets?.revoke()
        return (left, isEnd)
    }

    /// Seals the newest set of master keys alone. Returns false if the keys have been rotated in the meantime.
    private func removeMasterKeys(of old: OldKeys, _ writer: DigestingWriter) throws(KeychainFault) -> Bool {
        var record = try writer.store()
        guard record.masterKeyGeneration == old.masterGeneration else { return false }
        guard let sealing = try masterKeySets().sealing else { throw .interactionNotAllowed }
        try sealing.using { (key) throws(CryptoError) in
            try MasterKeyMaterial(opening: record, key: key).newestSet().seal(into: &record, key: key)
        }
        try writer.put(record)
        writer.setRekeyDevice(0)
        return true
    }
}

extension ClassKeyRecord {
    /// The generation as rows refer to it; nil for the Always lookup keys, which have one generation.
    var keyGeneration: KeyGeneration? {
        if case .protection(let protection) = purpose { KeyGeneration(protection, generation) } else { nil }
    }
}
