/// The condition under which an item can be used, and whether it may leave this device (`kSecAttrAccessible`).
///
/// Raw values are Apple's class numbers, and part of the store format: never renumbered.
package enum ProtectionClass: UInt8, CaseIterable, Hashable, Sendable {
    /// Usable while unlocked, or while already open. New items can be added while locked.
    case whenUnlockedUnlessOpen = 2
    case whenUnlocked = 6
    case afterFirstUnlock = 7
    case always = 8
    case whenUnlockedThisDeviceOnly = 9
    case afterFirstUnlockThisDeviceOnly = 10
    case alwaysThisDeviceOnly = 11
    /// Usable while unlocked, and only while a passphrase slot exists.
    case whenPasscodeSetThisDeviceOnly = 12

    /// The constant's name without `kSecAttrAccessible`.
    package var suffix: String {
        switch self {
        case .whenUnlockedUnlessOpen: "WhenUnlockedUnlessOpen"
        case .whenUnlocked: "WhenUnlocked"
        case .afterFirstUnlock: "AfterFirstUnlock"
        case .always: "Always"
        case .whenUnlockedThisDeviceOnly: "WhenUnlockedThisDeviceOnly"
        case .afterFirstUnlockThisDeviceOnly: "AfterFirstUnlockThisDeviceOnly"
        case .alwaysThisDeviceOnly: "AlwaysThisDeviceOnly"
        case .whenPasscodeSetThisDeviceOnly: "WhenPasscodeSetThisDeviceOnly"
        }
    }

    /// The value of the constant. `cuo` is specific to this project; Apple has no such item class.
    package var code: String {
        switch self {
        case .whenUnlockedUnlessOpen: "cuo"
        case .whenUnlocked: "ak"
        case .afterFirstUnlock: "ck"
        case .always: "dk"
        case .whenUnlockedThisDeviceOnly: "aku"
        case .afterFirstUnlockThisDeviceOnly: "cku"
        case .alwaysThisDeviceOnly: "dku"
        case .whenPasscodeSetThisDeviceOnly: "akpu"
        }
    }

    /// The name of the equivalent file protection (contract, L3), without `NSFileProtection`; nil if there is no
    /// equivalent.
    package var fileProtectionSuffix: String? {
        switch self {
        case .whenUnlocked: "Complete"
        case .whenUnlockedUnlessOpen: "CompleteUnlessOpen"
        case .afterFirstUnlock: "CompleteUntilFirstUserAuthentication"
        case .always: "None"
        default: nil
        }
    }

    /// Whether its keys require the device key of the device that created them.
    package var isThisDeviceOnly: Bool { rawValue >= Self.whenUnlockedThisDeviceOnly.rawValue }

    /// The user's action that makes the class available.
    package enum Availability: Hashable, Sendable {
        case unlocked, firstUnlock, always
    }

    package var availability: Availability {
        switch self {
        case .always, .alwaysThisDeviceOnly: .always
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: .firstUnlock
        default: .unlocked
        }
    }
}
