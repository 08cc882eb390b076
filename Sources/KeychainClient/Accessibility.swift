/// The times at which an item can be used, and whether it may be moved to other devices (kSecAttrAccessible). The raw
/// value is that of Apple's constant.
public enum Accessibility: String, CaseIterable, Sendable {
    /// While the keychain is unlocked; the default.
    case whenUnlocked = "ak"
    /// From the first unlock until the daemon ends.
    case afterFirstUnlock = "ck"
    /// From the mount on, without an unlock.
    case always = "dk"
    case whenUnlockedThisDeviceOnly = "aku"
    case afterFirstUnlockThisDeviceOnly = "cku"
    case alwaysThisDeviceOnly = "dku"
    /// While the keychain is unlocked, and only while it has a passphrase. Not part of backups.
    case whenPasscodeSetThisDeviceOnly = "akpu"
    /// While the keychain is unlocked, but items can be added while it is locked.
    case whenUnlockedUnlessOpen = "cuo"
}
