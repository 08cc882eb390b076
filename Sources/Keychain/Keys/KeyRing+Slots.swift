package import SecretCrypto

/// The result of a change of slots.
package struct SlotChange: Hashable, Sendable {
    /// The slot that was added, changed or removed.
    package let id: Int64
    /// The number of items of WhenPasscodeSetThisDeviceOnly that were deleted with the last passphrase slot.
    package var deletedItems = 0
    /// The slots that were removed because their records are damaged or forged, so that the new user key was not
    /// wrapped for them.
    package var lostSlots: [Int64] = []

    package init(id: Int64) { self.id = id }
}

/// Adds, changes and removes key slots, each in one transaction and without resealing items (contract, L5).
///
/// Every change requires the root key of a slot, in any lock state: an unlocked keychain gives no authority over its
/// slots. Each change ends with an empty log (S8).
extension KeyRing {
    /// Adds a slot; for a passphrase at the store's cost.
    ///
    /// - Throws: `interactionNotAllowed` before the first unlock; `authFailed`; `slotRefused` for a secret that opens a
    ///   slot already; `inUse` if another process has changed the cost in the meantime; `decode` if rows of keys are
    ///   damaged; the errors of the store. Nothing is changed then.
    package func addSlot(
        _ new: borrowing UnlockSecret, authorizedBy root: borrowing SlotRootKey
    ) throws(KeychainFault) -> SlotChange {
        let newRoot = try self.root(of: new)
        let (id, table) = try changeSlots(by: root) { (edit) throws(KeychainFault) -> (Int64, KeyTable?) in
            guard newRoot.fits(edit.records.store) else { throw .inUse(processID: 0) }
            try edit.checkUnused(newRoot)
            let id = try edit.freeID()
            let hadPassphrase = try edit.records.hasPassphrase(userKey: edit.userKey)
            try edit.put(newRoot, id: id)
            guard newRoot.kind.hasPassphrase, !hadPassphrase else { return (id, nil) }
            return (id, try passcodeKeys(edit))
        }
        if let table { try install(table) }
        return SlotChange(id: id)
    }

    /// Replaces the secret of a slot by another one of any type. The previous secret no longer opens the store: the
    /// user key and the class keys for later writes are rotated.
    ///
    /// - Parameters:
    ///   - cost: The minimum cost of a guess of the passphrase. A present cost is never reduced.
    ///   - deletesPasscodeItems: Whether items of WhenPasscodeSetThisDeviceOnly may be deleted with the last passphrase
    ///     slot.
    /// - Throws: `itemNotFound` without such a slot; `slotRefused`; `param` for a cost with a secret that is not a passphrase; the
    ///   errors of ``addSlot(_:authorizedBy:)``.
    package func changeSlot(
        _ id: Int64, to new: borrowing UnlockSecret, cost: Argon2id.Cost? = nil,
        authorizedBy root: borrowing SlotRootKey, deletesPasscodeItems: Bool = false
    ) throws(KeychainFault) -> SlotChange {
        guard cost == nil || new.kind.hasPassphrase else { throw .param }
        let present = try store.read { (reader) throws(KeychainFault) in try reader.store() }
        let raised = present.raised(to: cost)
        let newRoot = try SlotUnlock.root(of: new, store: raised)
        return try changeSlots(by: root, deletesPasscodeItems: deletesPasscodeItems) { (edit) throws(KeychainFault) in
            guard edit.records.store.hasSameCost(as: present) else { throw .inUse(processID: 0) }
            guard edit.records.slots.contains(where: { $0.id == id }) else { throw .itemNotFound }
            if raised.hasSameCost(as: present) {
                try edit.checkUnused(newRoot, besides: id)
            } else {
                try edit.raiseCost(to: raised, for: id)
            }
            try edit.put(newRoot, id: id)
            return SlotChange(id: id)
        }
    }

    /// Removes a slot. Its secret no longer opens the store, but still opens older copies of the file.
    ///
    /// - Throws: The errors of ``changeSlot(_:to:cost:authorizedBy:deletesPasscodeItems:)``.
    package func removeSlot(
        _ id: Int64, authorizedBy root: borrowing SlotRootKey, deletesPasscodeItems: Bool = false
    ) throws(KeychainFault) -> SlotChange {
        try changeSlots(by: root, deletesPasscodeItems: deletesPasscodeItems) { (edit) throws(KeychainFault) in
            guard edit.records.slots.contains(where: { $0.id == id }) else { throw .itemNotFound }
            guard try edit.hasUsableSlot(besides: id) else { throw .slotRefused(.lastSlot) }
            try edit.writer.deleteSlot(id)
            return SlotChange(id: id)
        }
    }

    // MARK: Transactions

    /// Changes slots, and then rotates the user key and the class keys, all in one transaction.
    private func changeSlots(
        by root: borrowing SlotRootKey, deletesPasscodeItems: Bool,
        _ body: (borrowing SlotTransaction) throws(KeychainFault) -> SlotChange
    ) throws(KeychainFault) -> SlotChange {
        let (change, keys) = try changeSlots(by: root) { (edit) throws(KeychainFault) -> (SlotChange, RotatedKeys) in
            var change = try body(edit)
            let isLastPassphrase = try edit.hasLostPassphrase()
            let (keys, lost) = try rotate(KeySnapshot(edit.writer), edit.writer, userKey: edit.userKey)
            change.lostSlots = lost
            if isLastPassphrase {
                change.deletedItems = try edit.deletePasscodeItems(isAllowed: deletesPasscodeItems)
            }
            return (change, keys)
        }
        try install(keys.table, master: keys.master)
        return change
    }

    private func changeSlots<Result>(
        by root: borrowing SlotRootKey, _ body: (borrowing SlotTransaction) throws(KeychainFault) -> Result
    ) throws(KeychainFault) -> Result {
        guard state.isAfterFirstUnlock else { throw .interactionNotAllowed }
        let result = try store.write(by: ledger) { (writer) throws(KeychainFault) in
            try body(SlotTransaction(writer, root: root))
        }
        // A failure is the caller's to report (``stateFault``): the slots have been changed.
        try? keepCommitNumber()
        do throws(KeychainFault) { try store.truncateLog() } catch { store.eraseLogSoon() }
        return result
    }

    /// Creates keys of WhenPasscodeSetThisDeviceOnly after a passphrase slot has been added again.
    private func passcodeKeys(_ edit: borrowing SlotTransaction) throws(KeychainFault) -> KeyTable {
        let keys = try wrappingKeys(userKey: edit.userKey, generation: edit.records.store.userKeyGeneration)
        try KeySnapshot(edit.writer).enrollment(tag: deviceTag, hasPassphrase: true).write(to: edit.writer, keys: keys)
        return try KeySnapshot(edit.writer).table(tag: deviceTag, hasPassphrase: true, keys: keys)
    }
}

extension StoreRecord {
    /// Returns the record with a cost that is in no respect lower than the present one, and a new salt if it is higher.
    fileprivate func raised(to wanted: Argon2id.Cost?) -> StoreRecord {
        guard let wanted else { return self }
        var raised = self
        raised.cost = Argon2id.Cost(
            passes: max(cost.passes, wanted.passes), memory: max(cost.memory, wanted.memory))
        if raised.cost != cost { raised.salt = SecureRandom.bytes(Argon2id.saltCount) }
        return raised
    }

    func hasSameCost(as other: StoreRecord) -> Bool { cost == other.cost && salt == other.salt }
}
