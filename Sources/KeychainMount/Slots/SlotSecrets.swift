import DeviceState
import Keychain

/// The values of `--kind`.
package enum SlotKindOption: String, CaseIterable, Sendable {
    case passphrase, recovery, keyfile

    package static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    var kind: SlotKind {
        switch self {
        case .passphrase: .passphrase
        case .recovery: .recoveryKey
        case .keyfile: .keyFile
        }
    }
}

/// The files and flags of a command that changes a slot: the present unlock secret, and the new one.
package struct SlotSecrets: Sendable {
    private let passphrase: PassphraseSource
    private let passphraseFile: String?
    private let keyFile: String?
    private let usesRecoveryKey: Bool
    private let newPassphraseFile: String?
    private let newKeyFile: String?
    private let acceptsWeakKeyFile: Bool

    /// - Parameters:
    ///   - variable: The passphrase file of the environment, used if no option names one.
    ///   - acceptsWeakKeyFile: Whether a new key file may be printable text.
    package init(
        passphraseFile: String?, variable: String?, keyFile: String?, usesRecoveryKey: Bool,
        newPassphraseFile: String?, newKeyFile: String?, acceptsWeakKeyFile: Bool
    ) {
        passphrase = PassphraseSource(file: passphraseFile ?? variable)
        self.passphraseFile = passphraseFile
        self.keyFile = keyFile
        self.usesRecoveryKey = usesRecoveryKey
        self.newPassphraseFile = newPassphraseFile
        self.newKeyFile = newKeyFile
        self.acceptsWeakKeyFile = acceptsWeakKeyFile
    }

    /// The kind that the names of the new secret imply.
    package var impliedKind: SlotKindOption? {
        newPassphraseFile != nil ? .passphrase : newKeyFile != nil ? .keyfile : nil
    }

    /// Whether `--key-file` names the new key file, because no other option does.
    private func namesNewKeyFile(_ kind: SlotKind) -> Bool { kind == .keyFile && newKeyFile == nil }

    /// Returns the source of the present unlock secret.
    func unlocking(for kind: SlotKind) throws(CLIError) -> UnlockSource {
        if let keyFile, !namesNewKeyFile(kind) {
            guard !usesRecoveryKey, passphraseFile == nil else {
                throw CLIError(.usage, "--key-file, --recovery and --passphrase-file exclude each other.")
            }
            return .keyFile(KeyFile(path: DefaultPaths.absolute(keyFile)))
        }
        return usesRecoveryKey ? .recoveryKey(PassphraseSource(file: passphraseFile)) : .passphrase(passphrase)
    }

    /// Returns the source of the new secret.
    ///
    /// - Parameter keepsPassphrase: Whether only the cost of the passphrase changes if no new one is named.
    func new(_ kind: SlotKind, keepsPassphrase: Bool = false) throws(CLIError) -> NewSecret {
        guard newPassphraseFile == nil || kind == .passphrase, newKeyFile == nil || kind == .keyFile else {
            throw CLIError(.usage, "--kind \(kind.name) and the file of another kind of slot exclude each other.")
        }
        switch kind {
        case .passphrase:
            if keepsPassphrase, newPassphraseFile == nil { return .samePassphrase }
            return .passphrase(PassphraseSource(file: newPassphraseFile))
        case .recoveryKey: return .recoveryKey
        case .keyFile:
            guard let path = newKeyFile ?? keyFile else {
                throw CLIError(.usage, "Name the key file with --key-file: it is created if it does not exist.")
            }
            return .keyFile(NewKeyFile(path: DefaultPaths.absoluteOfNew(path), acceptsText: acceptsWeakKeyFile))
        case .tpm2, .fido2, .systemdCredential, .passphraseAndKeyFile, .plugin, .later:
            throw CLIError(.slotRefused, "This version cannot write a slot of that kind. Name another with --kind.")
        }
    }
}
