package import SecretCrypto

/// A key slot as anybody who has the file can read it: not verified.
package struct SlotSummary: Hashable, Sendable {
    package let id: Int64
    package let kind: SlotKind
    /// What a guess of the passphrase costs; nil for other kinds.
    package let cost: Argon2id.Cost?
}

extension KeyRing {
    /// The slots, in the order of their ids; needs no unlock.
    package func slots() throws(KeychainFault) -> [SlotSummary] {
        let records = try store.read { (reader) throws(KeychainFault) in try KeySnapshot(reader) }
        return records.slots.sorted { $0.id < $1.id }.map { slot in
            SlotSummary(id: slot.id, kind: slot.kind, cost: slot.kind == .passphrase ? records.store.cost : nil)
        }
    }
}
