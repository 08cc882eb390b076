import Keychain
import SecretCrypto

/// Who changes the slots of a keychain: this process, or the daemon that has it mounted (S1).
protocol SlotBackend {
    /// Where, for a message.
    var keychainName: String { get }

    func list() throws(CLIError) -> SlotListResult

    /// Whether the secret opens a slot, before anything is made for a change.
    func verify(_ authority: borrowing UnlockSecret) throws(CLIError)

    /// Nil, and nothing changed: items of WhenPasscodeSetThisDeviceOnly would be deleted, and the request does not say
    /// that they may.
    func run(
        _ request: SlotRequest, by authority: borrowing UnlockSecret, new: borrowing UnlockSecret?
    ) throws(CLIError) -> SlotChangeResult?
}
