import SecretCrypto

extension KeychainRepair {
    /// Renews the user key and all class keys of the repaired copy, so that a planted class key seals nothing new. Keeps
    /// the slots whose recipients open, and the slot of `root`, which its secret shows to be the user's.
    ///
    /// - Parameters:
    ///   - copy: A store that ``write(_:to:)`` has written.
    ///   - root: The root key that has unlocked the damaged store.
    package func rotateKeys(of copy: any RecordStore, root: borrowing SlotRootKey) throws(KeychainFault) {
        let device = try keys.device.using { (device) throws(CryptoError) in try device.copy() }
        let ring = try KeyRing(store: copy, device: device)
        defer { ring.close() }
        try ring.unlock(root: root)
        _ = try copy.write(by: ring.ledger) { (writer) throws(KeychainFault) in
            let edit = try SlotTransaction(writer, root: root)
            let slot = try SlotUnlock.opened(
                root: root.bytes, kind: root.kind, slots: edit.records.slots, store: edit.records.store)
            try edit.put(root, id: slot.id)
            return try ring.rotate(KeySnapshot(writer), writer, userKey: edit.userKey, extent: .allClassKeys).1
        }
    }
}
