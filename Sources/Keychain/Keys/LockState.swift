/// Whether the keychain is locked (contract, section 4): *before first unlock* → *unlocked* ⇄ *locked*.
package enum LockState: Hashable, Sendable {
    case beforeFirstUnlock
    case unlocked
    case locked

    /// The state after a successful unlock.
    package var unlocking: LockState { .unlocked }

    /// The state after a lock, which stays *before first unlock* if the keychain was never unlocked.
    package var locking: LockState { self == .beforeFirstUnlock ? .beforeFirstUnlock : .locked }

    /// Whether the keys exist that are kept from the first unlock on.
    package var isAfterFirstUnlock: Bool { self != .beforeFirstUnlock }

    /// Whether a class may be usable in this state. Whether it is depends on its keys.
    package func permits(_ availability: ProtectionClass.Availability) -> Bool {
        switch availability {
        case .always: true
        case .firstUnlock: isAfterFirstUnlock
        case .unlocked: self == .unlocked
        }
    }
}
