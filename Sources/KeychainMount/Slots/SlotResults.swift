import Keychain
import SecretCrypto

/// The result of `keychainfs slot list`.
package struct SlotListResult: JSONText, Sendable {
    package struct Slot: Codable, Sendable {
        package let id: Int64
        /// `passphrase`, `recovery`, `keyfile`, or a kind that this version cannot open.
        package let kind: String
        /// For a passphrase, the cost of a guess.
        package let kdf: Derivation?
    }

    package struct Derivation: Codable, Sendable {
        package let algorithm: String
        package let passes: UInt64
        /// The memory in bytes.
        package let memory: UInt64

        init(_ cost: Argon2id.Cost) { (algorithm, passes, memory) = ("argon2id", cost.passes, cost.memory) }

        var cost: Argon2id.Cost { Argon2id.Cost(passes: passes, memory: memory) }
    }

    package let slots: [Slot]
    /// The cost of a guess at the last unlock on this device, if it is known.
    package let kdfAtLastUnlock: Derivation?

    init(_ slots: [SlotSummary], keptCost: Argon2id.Cost?) {
        self.slots = slots.map { slot in
            Slot(id: slot.id, kind: slot.kind.name, kdf: slot.cost.map(Derivation.init))
        }
        kdfAtLastUnlock = keptCost.map(Derivation.init)
    }

    /// The text for users.
    package var text: String {
        slots.map { slot in
            let cost = slot.kdf.map { "  Argon2id, \(Self.size($0.memory)), \($0.passes) passes" } ?? ""
            return "\(slot.id)  \(slot.kind)\(cost)"
        }.joined(separator: "\n")
    }

    private static func size(_ bytes: UInt64) -> String {
        bytes < 1 << 20 ? "\(bytes >> 10) KiB" : "\(bytes >> 20) MiB"
    }
}

/// The result of a change of slots, as the daemon sends it.
struct SlotChangeResult: JSONText, Sendable {
    let slot: Int64
    let deletedItems: Int
    let lostSlots: [Int64]
    /// The reason why this device could not save the state of the keychain; nil if it is saved.
    let stateFault: StateFault?

    init(_ change: SlotChange, stateFault fault: KeychainFault? = nil) {
        (slot, deletedItems, lostSlots) = (change.id, change.deletedItems, change.lostSlots)
        stateFault = fault.map(StateFault.init)
    }
}
