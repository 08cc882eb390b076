/// A SecAccessControl (kSecAttrAccessControl): a protection class and what has to be done before each use.
package struct AccessControl: Hashable, Sendable {
    package var protection: Protection
    /// SecAccessControlCreateFlags; 0 asks for nothing.
    package var flags: Int64

    package init(protection: Protection, flags: Int64) {
        self.protection = protection
        self.flags = flags
    }

    private static let userPresence: Int64 = 1 << 0
    private static let devicePasscode: Int64 = 1 << 4
    private static let or: Int64 = 1 << 14
    private static let and: Int64 = 1 << 15

    /// Whether the unlocked keychain is all that it asks for. Others need hardware, or a password of the application's, that
    /// there is not; they are refused rather than ignored.
    var isSupported: Bool {
        let known = Self.userPresence | Self.devicePasscode | Self.or | Self.and
        return flags & ~known == 0 && flags & (Self.or | Self.and) != Self.or | Self.and
    }

    /// Whether it asks for anything: such an item cannot be synchronizable.
    var hasConstraints: Bool { flags != 0 }
}
