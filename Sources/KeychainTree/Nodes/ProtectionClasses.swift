import Keychain

/// A set of protection classes, small enough for an atomic.
struct ProtectionClasses: Sendable {
    /// Bit `n` is the class with the raw value `n`.
    private(set) var bits: UInt16

    init(bits: UInt16) { self.bits = bits }

    /// Creates the set of the classes that satisfy a condition.
    init(where isMember: (ProtectionClass) -> Bool) {
        bits = 0
        for protection in ProtectionClass.allCases where isMember(protection) { bits |= Self.bit(of: protection) }
    }

    func contains(_ protection: ProtectionClass) -> Bool { bits & Self.bit(of: protection) != 0 }

    private static func bit(of protection: ProtectionClass) -> UInt16 { 1 << UInt16(protection.rawValue) }
}
