import FileSystemCore
import Keychain
import SystemPackage

extension CLIError {
    /// Maps the reason why slots have not been changed. `keychainName` is the keychain or its mount point, `kind` that
    /// of the unlock secret.
    init(_ error: KeychainFault, changingSlotsOf keychainName: String, with kind: SlotKind) {
        switch error {
        case .slotRefused(let refusal): self.init(refusal)
        case .itemNotFound:
            self.init(.slotRefused, "There is no such slot. 'keychainfs slot list' shows which there are.")
        case .authFailed:
            self.init(
                .wrongPassphrase, "\(kind.subject) does not open \(keychainName); nothing was changed. \(kind.advice)")
        case .interactionNotAllowed:
            self.init(
                .locked, "\(keychainName) has not been unlocked since it was mounted: 'keychainfs unlock' it first.")
        case .inUse:
            self.init(.inUse, "Another process is changing the slots of \(keychainName). Try again later.")
        case .readOnly: self.init(.readOnly, "\(keychainName) is read-only: its slots cannot be changed.")
        default: self.init(error, keychain: keychainName)
        }
    }

    private init(_ refusal: SlotChangeError) {
        switch refusal {
        case .lastSlot:
            self.init(
                .slotRefused,
                "It is the last slot: nothing would unlock the keychain any more. Add another one first, or change it.")
        case .passcodeItems:
            self.init(
                .slotRefused,
                "It is the last passphrase slot, and items of the class WhenPasscodeSetThisDeviceOnly would be deleted with "
                    + "it. Nothing was changed. Say --yes if they may be, or add another passphrase first.")
        case .sharedCost:
            self.init(
                .slotRefused,
                "All passphrase slots share their cost, and the other passphrases are not known here. Remove those slots, "
                    + "raise it, and add them again.")
        case .sameSecret:
            self.init(
                .slotRefused,
                "That secret opens another slot of the keychain already; nothing was changed. Give each slot a secret of its "
                    + "own.")
        }
    }
}

extension KeychainFault {
    /// Maps an errno that is specific to slot commands; nil for all others.
    init?(ofSlotCommand errno: Errno) {
        switch errno {
        case .noSuchFileOrDirectory: self = .itemNotFound
        case .notPermitted: self = .slotRefused(.lastSlot)
        case .directoryNotEmpty: self = .slotRefused(.passcodeItems)
        case .operationNotSupported: self = .slotRefused(.sharedCost)
        case .fileExists: self = .slotRefused(.sameSecret)
        case .resourceBusy: self = .inUse(processID: 0)
        case .readOnlyFileSystem: self = .readOnly
        case Errno(rawValue: 126): self = .interactionNotAllowed
        case Errno(rawValue: 129): self = .authFailed
        default: return nil
        }
    }
}
