import SecretCrypto

/// The state in the file of a device, compared with the user keys of a store (contract, S2).
package enum KeptState: Hashable, Sendable {
    /// The device has no file for the store.
    case missing
    /// The MAC of the file is that of a user key of the store, present or past.
    case authentic(SeenState)
    /// The file names a newer user key than the store has, so that its MAC cannot be verified. The store is a copy from before
    /// slots were removed or changed, or before a rekey.
    case newerUserKey
    /// The file is damaged or forged, or the store has another history.
    case untrusted
}

extension KeyRing {
    /// Compares the file of a device with the store.
    ///
    /// - Parameter root: Opens a slot.
    /// - Throws: `authFailed` if it opens none; `decode` for damaged rows of keys; `deviceFile`; the errors of the store.
    package func keptState(
        in commitNumberStore: any CommitNumberStore, root: borrowing SlotRootKey
    ) throws(KeychainFault) -> KeptState {
        let records = try keySnapshot()
        let userKey = try records.userKey(openedBy: root)
        let keys = try headerKeys(userKey, records.store.userKeyGeneration)
        return try keptState(in: commitNumberStore, records, userKey: userKey, keys: keys)
    }

    /// Compares the file of a device with the store.
    ///
    /// - Parameter keys: Those of `userKey`, the present user key.
    func keptState(
        in commitNumberStore: any CommitNumberStore, _ records: KeySnapshot, userKey: borrowing SecretBytes,
        keys: HeaderKeys
    ) throws(KeychainFault) -> KeptState {
        guard let bytes = try commitNumberStore.load(for: storeID) else { return .missing }
        do throws(KeychainFault) {
            let record = try DeviceFileRecord(decoding: bytes, store: storeID)
            let generation = record.state.userKeyGeneration
            guard generation <= keys.generation else { return .newerUserKey }
            let itsKeys = generation == keys.generation ? keys : try pastKeys(generation, records, userKey: userKey)
            return try record.isAuthentic(itsKeys.deviceFile) ? .authentic(record.state) : .untrusted
        } catch .decode {
            return .untrusted
        }
    }

    /// Returns the keys of a past generation. The store contains its user key if it was rotated since.
    ///
    /// - Throws: `decode` without that user key: the file is of another history of the store.
    private func pastKeys(
        _ generation: Int64, _ records: KeySnapshot, userKey: borrowing SecretBytes
    ) throws(KeychainFault) -> HeaderKeys {
        try headerKeys(records.pastUserKey(generation, userKey: userKey), generation)
    }
}
