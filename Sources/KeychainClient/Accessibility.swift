/// When an item can be used, and whether it goes to other devices (kSecAttrAccessible). The raw value is the constant's.
public enum Accessibility: String, CaseIterable, Sendable {
    /// While the keychain is unlocked; the default.
    case whenUnlocked = "ak"
    /// From the first unlock until the daemon ends.
    case afterFirstUnlock = "ck"
    /// From mount on, without an unlock.
    case always = "dk"
    case whenUnlockedThisDeviceOnly = "aku"
    case afterFirstUnlockThisDeviceOnly = "cku"
    case alwaysThisDeviceOnly = "dku"
    /// While unlocked, and only while the keychain has a passphrase; in no backup.
    case whenPasscodeSetThisDeviceOnly = "akpu"
    /// While unlocked, but items can be added while locked.
    case whenUnlockedUnlessOpen = "cuo"
}
