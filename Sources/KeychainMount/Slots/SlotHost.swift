import Keychain
import SecretCrypto

/// Who changes the slots of a keychain: this process, or the daemon that has it mounted (S1).
protocol SlotHost {
    /// Where, for a message.
    var place: String { get }

    func list() throws(Failure) -> SlotListAnswer

    /// Whether the secret opens a slot, before anything is made for a change.
    func verify(_ authority: borrowing UnlockSecret) throws(Failure)

    /// Nil, and nothing changed: items of WhenPasscodeSetThisDeviceOnly would be deleted, and the request does not say
    /// that they may.
    func run(
        _ request: SlotRequest, by authority: borrowing UnlockSecret, new: borrowing UnlockSecret?
    ) throws(Failure) -> SlotChangeAnswer?
}
