/// Why key slots stay as they are.
package enum SlotChangeError: Hashable, Sendable {
    /// It is the last slot that this version can open.
    case lastSlot
    /// It is the last passphrase slot, and items of WhenPasscodeSetThisDeviceOnly would be gone with it.
    case passcodeItems
    /// The cost of a guess can be raised only while there is one passphrase slot: all of them share it.
    case sharedCost
    /// The secret opens another slot already: to remove or change one of the two would take nothing from who has it.
    case sameSecret
}
