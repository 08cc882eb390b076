import Keychain
import SecretCrypto

/// The party that changes the slots of a keychain: this process, or the daemon that has it mounted (S1).
protocol SlotBackend {
    /// The path or mount point, for messages.
    var keychainName: String { get }
    /// The keychain in prompts.
    var shownName: String { get }

    func list() throws(CLIError) -> SlotListResult

    /// Requires that the secret opens a slot, before a new secret is generated.
    func verify(_ authority: borrowing UnlockSecret) throws(CLIError)

    /// Executes a change. Returns nil, without a change, if items of WhenPasscodeSetThisDeviceOnly would be deleted and
    /// the request does not permit that.
    func run(
        _ request: SlotRequest, by authority: borrowing UnlockSecret, new: borrowing UnlockSecret?
    ) throws(CLIError) -> SlotChangeResult?
}

extension SlotBackend {
    var shownName: String { keychainName }
}
