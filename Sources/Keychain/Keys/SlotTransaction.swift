import SecretCrypto

/// A change of slots in progress: a transaction, and the user key that authorizes it.
struct SlotTransaction: ~Copyable {
    let writer: DigestingWriter
    /// The key records at the start of the transaction.
    let records: KeySnapshot
    /// The user key at the start of the transaction.
    let userKey: SecretBytes

    /// Begins a change.
    ///
    /// - Throws: `authFailed` unless the root key opens a slot with the user key of this store; `inUse` for a
    ///   passphrase's root key whose cost is no longer the store's; `decode` if rows of keys cannot be read, because
    ///   one could be a slot.
    init(_ writer: DigestingWriter, root: borrowing SlotRootKey) throws(KeychainFault) {
        let records = try KeySnapshot(writer)
        try writer.verifyKeys(records)
        guard root.fits(records.store) else { throw .inUse(processID: 0) }
        let userKey = try records.userKey(openedBy: root)
        self.writer = writer
        self.records = records
        self.userKey = userKey
    }

    /// Returns the ID of a new slot: one above the highest; if that is at the end of the range, the first free one.
    ///
    /// - Throws: `decode` if no ID is free.
    func freeID() throws(KeychainFault) -> Int64 {
        let used = Set(records.slots.map(\.id))
        let next = (used.filter(ClassKeyRecord.numbers.contains).max() ?? 0) + 1
        if ClassKeyRecord.numbers.contains(next) { return next }
        guard let free = ClassKeyRecord.numbers.first(where: { !used.contains($0) }) else { throw .decode }
        return free
    }

    /// Requires that a secret opens no slot except `id`.
    ///
    /// - Throws: `slotRefused`.
    func checkUnused(_ root: borrowing SlotRootKey, besides id: Int64? = nil) throws(KeychainFault) {
        let others = records.slots.filter { $0.id != id }
        do throws(KeychainFault) {
            _ = try SlotUnlock.userKey(root: root.bytes, kind: root.kind, slots: others, store: records.store).count
        } catch .authFailed {
            return
        }
        throw .slotRefused(.sameSecret)
    }

    /// Writes the slot with that ID, and replaces an existing one.
    func put(_ root: borrowing SlotRootKey, id: Int64) throws(KeychainFault) {
        let store = records.store
        let address = SlotAddress(
            store: store.identifier, id: id, kind: root.kind, userKeyGeneration: store.userKeyGeneration)
        let slot: SlotRecord
        do throws(CryptoError) {
            let secret = try SlotSecret(root: root.bytes, store: store.identifier, slot: id)
            slot = try SlotRecord(wrapping: userKey, for: secret.recipient(), at: address)
        } catch {
            throw KeychainFault(error)
        }
        try writer.put(slot)
    }

    /// Raises the cost of the passphrase.
    ///
    /// - Throws: `slotRefused` while another passphrase slot shares the cost.
    func raiseCost(to raised: StoreRecord, for id: Int64) throws(KeychainFault) {
        for slot in records.slots where slot.kind.hasPassphrase && slot.id != id {
            guard try !records.isAuthentic(for: slot, userKey: userKey) else { throw .slotRefused(.sharedCost) }
        }
        var store = try writer.store()
        (store.salt, store.cost) = (raised.salt, raised.cost)
        try writer.put(store)
    }

    /// Whether the keychain could still be unlocked without that slot, by this version.
    func hasUsableSlot(besides id: Int64) throws(KeychainFault) -> Bool {
        for slot in records.slots where slot.id != id && slot.kind.isSupported {
            if try records.isAuthentic(for: slot, userKey: userKey) { return true }
        }
        return false
    }

    /// Whether the last passphrase slot has been removed. Must be called before the user key is rotated.
    func hasLostPassphrase() throws(KeychainFault) -> Bool {
        guard try records.hasPassphrase(userKey: userKey) else { return false }
        return try !KeySnapshot(writer).hasPassphrase(userKey: userKey)
    }

    /// Deletes the items of WhenPasscodeSetThisDeviceOnly and all keys of that class. Returns the number of items.
    func deletePasscodeItems(isAllowed: Bool) throws(KeychainFault) -> Int {
        let first = try writer.itemIDs(of: .whenPasscodeSetThisDeviceOnly, limit: 1)
        guard first.isEmpty || isAllowed else { throw .slotRefused(.passcodeItems) }
        let count = try writer.deleteItems(of: .whenPasscodeSetThisDeviceOnly)
        for key in try writer.classKeys() where key.purpose == .protection(.whenPasscodeSetThisDeviceOnly) {
            try writer.deleteClassKey(key)
        }
        return count
    }
}

extension KeySnapshot {
    /// Returns the user key that a root key opens.
    ///
    /// - Throws: `authFailed` if it opens none.
    func userKey(openedBy root: borrowing SlotRootKey) throws(KeychainFault) -> SecretBytes {
        try SlotUnlock.userKey(root: root.bytes, kind: root.kind, slots: slots, store: store)
    }

    /// Whether a slot's recipient is sealed under the user key. A slot without that is ignored.
    func isAuthentic(for slot: SlotRecord, userKey: borrowing SecretBytes) throws(KeychainFault) -> Bool {
        guard slot.userKeyGeneration == store.userKeyGeneration else { return false }
        do throws(CryptoError) {
            _ = try slot.recipient(userKey: userKey, store: store.identifier).publicKey
            return true
        } catch {
            guard KeychainFault(error) == .decode else { throw KeychainFault(error) }
            return false
        }
    }
}

extension SlotKind {
    /// Whether this version can open such slots.
    var isSupported: Bool {
        switch self {
        case .passphrase, .recoveryKey, .keyFile, .passphraseAndKeyFile: true
        case .tpm2, .fido2, .systemdCredential, .plugin, .later: false
        }
    }
}
