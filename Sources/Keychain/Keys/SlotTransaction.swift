import SecretCrypto

/// A change of slots under way: a transaction, and the user key by which it is made.
struct SlotTransaction: ~Copyable {
    let writer: any RecordWriter
    /// As they were when the transaction began.
    let records: KeySnapshot
    /// The one that they were under.
    let userKey: SecretBytes

    /// - Throws: `authFailed` unless the root opens a slot to the user key of this store; `inUse` for a passphrase's whose
    ///   cost is not the store's any more; `decode` if there are rows of keys that cannot be read: one could be a slot.
    init(_ writer: any RecordWriter, root: borrowing SlotRootKey) throws(KeychainFault) {
        let records = try KeySnapshot(writer)
        guard !records.isDamaged else { throw .decode }
        guard root.fits(records.store) else { throw .inUse(processID: 0) }
        let userKey = try records.userKey(openedBy: root)
        self.writer = writer
        self.records = records
        self.userKey = userKey
    }

    /// For a new slot: above all that are; where somebody has written a number from the end of the range, the first that
    /// none has.
    ///
    /// - Throws: `decode` if there is none.
    func freeID() throws(KeychainFault) -> Int64 {
        let used = Set(records.slots.map(\.id))
        let next = (used.filter(ClassKeyRecord.numbers.contains).max() ?? 0) + 1
        if ClassKeyRecord.numbers.contains(next) { return next }
        guard let free = ClassKeyRecord.numbers.first(where: { !used.contains($0) }) else { throw .decode }
        return free
    }

    /// `slotRefused` for a secret that opens a slot besides that one.
    func checkUnused(_ root: borrowing SlotRootKey, besides id: Int64? = nil) throws(KeychainFault) {
        let others = records.slots.filter { $0.id != id }
        do throws(KeychainFault) {
            _ = try SlotUnlock.userKey(root: root.bytes, kind: root.kind, slots: others, store: records.store).count
        } catch .authFailed {
            return
        }
        throw .slotRefused(.sameSecret)
    }

    /// Writes a slot of that id, in whose place whatever.
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

    /// `slotRefused` while another passphrase slot shares the cost.
    func raiseCost(to raised: StoreRecord, for id: Int64) throws(KeychainFault) {
        for slot in records.slots where slot.kind == .passphrase && slot.id != id {
            guard try !records.isAuthentic(for: slot, userKey: userKey) else { throw .slotRefused(.sharedCost) }
        }
        var store = try writer.store()
        (store.salt, store.cost) = (raised.salt, raised.cost)
        try writer.put(store)
    }

    /// Whether somebody could still unlock without that slot, and with this version.
    func hasUsableSlot(besides id: Int64) throws(KeychainFault) -> Bool {
        for slot in records.slots where slot.id != id && slot.kind.isSupported {
            if try records.isAuthentic(for: slot, userKey: userKey) { return true }
        }
        return false
    }

    /// Whether there was a passphrase slot and is none any more; before the user key is another.
    func hasLostPassphrase() throws(KeychainFault) -> Bool {
        guard try records.hasPassphrase(userKey: userKey) else { return false }
        return try !KeySnapshot(writer).hasPassphrase(userKey: userKey)
    }

    /// Deletes the items of WhenPasscodeSetThisDeviceOnly and all keys of that class; returns how many items.
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
    /// The user key that a root opens; `authFailed` without one.
    func userKey(openedBy root: borrowing SlotRootKey) throws(KeychainFault) -> SecretBytes {
        try SlotUnlock.userKey(root: root.bytes, kind: root.kind, slots: slots, store: store)
    }

    /// Whether the user key knows a slot's recipient: what only claims to be a slot counts for nothing.
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
    /// Whether this version opens such slots.
    var isSupported: Bool {
        switch self {
        case .passphrase, .recoveryKey, .keyFile: true
        case .tpm2, .fido2, .systemdCredential: false
        }
    }
}
