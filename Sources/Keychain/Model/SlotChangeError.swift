/// The reason why key slots have not been changed.
package enum SlotChangeError: Hashable, Sendable {
    /// It is the last slot that this version can open.
    case lastSlot
    /// It is the last passphrase slot, and items of WhenPasscodeSetThisDeviceOnly would be deleted with it.
    case passcodeItems
    /// The cost of a guess can be raised only while there is one passphrase slot, because all share it.
    case sharedCost
    /// The secret opens another slot already: removing or changing one of them would not exclude its holder.
    case sameSecret
}
