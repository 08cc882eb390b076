/// When an item can be used and whether it leaves this device (`kSecAttrAccessible`).
///
/// Raw values are Apple's class numbers, and part of the store format: never renumbered.
package enum ProtectionClass: UInt8, CaseIterable, Hashable, Sendable {
    /// Usable while unlocked or while already open; new items can be added while locked.
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

    /// The value of the constant; `cuo` is ours, Apple has no item class like it.
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

    /// The name of the file protection that means the same (contract, L3), without `NSFileProtection`; nil where there is none.
    package var fileProtectionSuffix: String? {
        switch self {
        case .whenUnlocked: "Complete"
        case .whenUnlockedUnlessOpen: "CompleteUnlessOpen"
        case .afterFirstUnlock: "CompleteUntilFirstUserAuthentication"
        case .always: "None"
        default: nil
        }
    }

    /// Whether its keys are bound to the device that wrote them.
    package var isThisDeviceOnly: Bool { rawValue >= Self.whenUnlockedThisDeviceOnly.rawValue }

    /// What a person has to have done for it to be usable.
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
