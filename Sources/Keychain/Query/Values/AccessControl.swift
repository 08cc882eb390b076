/// A SecAccessControl (kSecAttrAccessControl): a protection class and the constraints on each use of an item.
package struct AccessControl: Hashable, Sendable {
    package var protection: ProtectionClass
    /// SecAccessControlCreateFlags; 0 for no constraint.
    package var flags: Int64

    package init(protection: ProtectionClass, flags: Int64) {
        self.protection = protection
        self.flags = flags
    }

    /// userPresence and devicePasscode: the unlocked keychain satisfies them.
    private static let satisfied: Int64 = 1 << 0 | 1 << 4
    /// biometryAny, biometryCurrentSet and companion, which need hardware.
    private static let unsatisfied: Int64 = 1 << 1 | 1 << 3 | 1 << 5
    private static let or: Int64 = 1 << 14
    private static let and: Int64 = 1 << 15

    /// Whether the unlocked keychain satisfies the constraints. Other constraints are refused rather than ignored.
    ///
    /// With `or`, one satisfied constraint suffices. applicationPassword and privateKeyUsage are not alternatives: they
    /// apply in addition to the other constraints, even with `or` (SecAccessControl.m).
    var isSupported: Bool {
        guard flags & ~(Self.satisfied | Self.unsatisfied | Self.or | Self.and) == 0 else { return false }
        guard flags & Self.or == 0 || flags & Self.and == 0 else { return false }
        let needsHardware = flags & Self.unsatisfied != 0
        return !needsHardware || flags & Self.or != 0 && flags & Self.satisfied != 0
    }

    /// Whether the item cannot be synchronizable.
    var hasConstraints: Bool { flags != 0 }
}
