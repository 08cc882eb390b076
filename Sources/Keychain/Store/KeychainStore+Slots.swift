package import SecretCrypto

/// The key slots of a keychain in use; see ``KeyRing``.
extension KeychainStore {
    package func addSlot(
        _ new: borrowing UnlockSecret, authorizedBy root: borrowing SlotRootKey
    ) throws(KeychainFault) -> SlotChange {
        try keys.addSlot(new, authorizedBy: root)
    }

    package func changeSlot(
        _ id: Int64, to new: borrowing UnlockSecret, cost: Argon2id.Cost? = nil,
        authorizedBy root: borrowing SlotRootKey, deletesPasscodeItems: Bool = false
    ) throws(KeychainFault) -> SlotChange {
        let change = try keys.changeSlot(
            id, to: new, cost: cost, authorizedBy: root, deletesPasscodeItems: deletesPasscodeItems)
        cache.dropUnavailable(keys.isAvailable)
        return change
    }

    package func removeSlot(
        _ id: Int64, authorizedBy root: borrowing SlotRootKey, deletesPasscodeItems: Bool = false
    ) throws(KeychainFault) -> SlotChange {
        let change = try keys.removeSlot(id, authorizedBy: root, deletesPasscodeItems: deletesPasscodeItems)
        cache.dropUnavailable(keys.isAvailable)
        return change
    }
}
