import SecretCrypto

extension KeyRing {
    /// Compares two copies of one store: whether the older user key of both is also a user key of the other copy. Otherwise one
    /// copy was changed without the keys of the other, for example by the holder of a removed slot.
    ///
    /// - Parameters:
    ///   - other: A copy of the same store, which may be damaged.
    ///   - root: Opens a slot of both.
    /// - Returns: Nil if `other` has lost the user key that is compared.
    /// - Throws: `authFailed` if the root key opens no slot of a copy; `decode` for damaged rows of keys; the errors of the stores.
    package func hasSameHistory(
        as other: KeyRing, root: borrowing SlotRootKey
    ) throws(KeychainFault) -> Bool? {
        let (records, others) = (try keySnapshot(), try other.keySnapshot())
        let generation = min(records.store.userKeyGeneration, others.store.userKeyGeneration)
        let known: SecretBytes
        do throws(KeychainFault) {
            known = try others.userKey(of: generation, present: others.userKey(openedBy: root))
        } catch .decode {
            return nil
        }
        do throws(KeychainFault) {
            let found = try records.userKey(of: generation, present: records.userKey(openedBy: root))
            return found.isEqual(to: known)
        } catch .decode {
            return false
        }
    }
}

extension KeySnapshot {
    /// Returns the user key of a generation, present or past.
    ///
    /// - Throws: `decode` if it does not exist or is not authentic.
    fileprivate func userKey(
        of generation: Int64, present: consuming SecretBytes
    ) throws(KeychainFault) -> SecretBytes {
        generation == store.userKeyGeneration ? present : try pastUserKey(generation, userKey: present)
    }
}
