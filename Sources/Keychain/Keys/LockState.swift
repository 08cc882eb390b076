/// Whether the keychain is locked (contract, section 4): *before first unlock* → *unlocked* ⇄ *locked*.
package enum LockState: Hashable, Sendable {
    case beforeFirstUnlock
    case unlocked
    case locked

    /// After a successful unlock.
    package var unlocking: LockState { .unlocked }

    /// After a lock: what was never unlocked stays so.
    package var locking: LockState { self == .beforeFirstUnlock ? .beforeFirstUnlock : .locked }

    /// Whether the keys that live from the first unlock on exist.
    package var isAfterFirstUnlock: Bool { self != .beforeFirstUnlock }

    /// Whether a class may be usable in this state; whether it is depends on its keys.
    package func permits(_ availability: ProtectionClass.Availability) -> Bool {
        switch availability {
        case .always: true
        case .firstUnlock: isAfterFirstUnlock
        case .unlocked: self == .unlocked
        }
    }
}
