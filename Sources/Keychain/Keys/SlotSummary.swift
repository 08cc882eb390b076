package import SecretCrypto

/// The readable part of a key slot, which is not authenticated.
package struct SlotSummary: Hashable, Sendable {
    package let id: Int64
    package let kind: SlotKind
    /// The cost of a guess of the passphrase; nil for types without one.
    package let cost: Argon2id.Cost?
}

extension KeyRing {
    /// Returns the slots in the order of their IDs. Needs no unlock.
    package func slots() throws(KeychainFault) -> [SlotSummary] {
        let records = try keySnapshot()
        return records.slots.sorted { $0.id < $1.id }.map { slot in
            SlotSummary(id: slot.id, kind: slot.kind, cost: slot.kind.hasPassphrase ? records.store.cost : nil)
        }
    }
}
