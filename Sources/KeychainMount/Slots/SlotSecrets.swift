import DeviceState
import Keychain

/// The values of `--kind`.
package enum SlotKindOption: String, CaseIterable, Sendable {
    case passphrase, recovery, keyfile
    case both = "passphrase-and-keyfile"

    package static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }

    var kind: SlotKind {
        switch self {
        case .passphrase: .passphrase
        case .recovery: .recoveryKey
        case .keyfile: .keyFile
        case .both: .passphraseAndKeyFile
        }
    }
}

/// The files and flags of a command that changes a slot: the present unlock secret, and the new one.
package struct SlotSecrets: Sendable {
    private let passphrase: PassphraseSource
    private let passphraseFile: String?
    private let keyFile: String?
    private let withPassphrase: Bool
    private let usesRecoveryKey: Bool
    private let newPassphraseFile: String?
    private let newKeyFile: String?
    private let acceptsWeakKeyFile: Bool

    /// - Parameters:
    ///   - variable: The passphrase file of the environment, used if no option names one.
    ///   - withPassphrase: Whether the key file unlocks only together with a passphrase.
    ///   - acceptsWeakKeyFile: Whether a new key file may be printable text.
    package init(
        passphraseFile: String?, variable: String?, keyFile: String?, withPassphrase: Bool = false,
        usesRecoveryKey: Bool,
        newPassphraseFile: String?, newKeyFile: String?, acceptsWeakKeyFile: Bool
    ) {
        passphrase = PassphraseSource(file: passphraseFile ?? variable)
        self.passphraseFile = passphraseFile
        self.keyFile = keyFile
        self.withPassphrase = withPassphrase
        self.usesRecoveryKey = usesRecoveryKey
        self.newPassphraseFile = newPassphraseFile
        self.newKeyFile = newKeyFile
        self.acceptsWeakKeyFile = acceptsWeakKeyFile
    }

    /// The kind that the names of the new secret imply.
    package var impliedKind: SlotKindOption? {
        switch (newPassphraseFile, newKeyFile) {
        case (nil, nil): nil
        case (_?, nil): .passphrase
        case (nil, _?): .keyfile
        case (_?, _?): .both
        }
    }

    /// Whether `--key-file` names the new key file, because no other option does.
    private func namesNewKeyFile(_ kind: SlotKind) -> Bool {
        kind == .keyFile && newKeyFile == nil && !withPassphrase
    }

    /// Returns the source of the present unlock secret.
    func unlocking(for kind: SlotKind) throws(CLIError) -> UnlockSource {
        if let keyFile, withPassphrase {
            guard !usesRecoveryKey else { throw CLIError(.usage, "--key-file and --recovery exclude each other.") }
            return .passphraseAndKeyFile(passphrase, KeyFile(path: DefaultPaths.absolute(keyFile)))
        }
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
        guard newPassphraseFile == nil || kind.hasPassphrase,
            newKeyFile == nil || kind == .keyFile || kind == .passphraseAndKeyFile
        else {
            throw CLIError(.usage, "--kind \(kind.name) and the file of another kind of slot exclude each other.")
        }
        switch kind {
        case .passphrase:
            if keepsPassphrase, newPassphraseFile == nil { return .samePassphrase }
            return .passphrase(PassphraseSource(file: newPassphraseFile))
        case .recoveryKey: return .recoveryKey
        case .keyFile:
            // A key file that unlocks only with a passphrase must not become a slot that opens without one.
            guard let path = newKeyFile ?? (withPassphrase ? nil : keyFile) else {
                let option = withPassphrase ? "--new-key-file" : "--key-file"
                throw CLIError(.usage, "Name the key file with \(option): it is created if it does not exist.")
            }
            return .keyFile(newFile(path))
        case .passphraseAndKeyFile:
            if keepsPassphrase, newPassphraseFile == nil, newKeyFile == nil { return .samePassphrase }
            guard let path = newKeyFile else {
                throw CLIError(.usage, "Name the key file with --new-key-file: it is created if it does not exist.")
            }
            return .passphraseAndKeyFile(PassphraseSource(file: newPassphraseFile), newFile(path))
        case .tpm2, .fido2, .systemdCredential, .plugin, .later:
            throw CLIError(.slotRefused, "This version cannot write a slot of that kind. Name another with --kind.")
        }
    }

    private func newFile(_ path: String) -> NewKeyFile {
        NewKeyFile(path: DefaultPaths.absoluteOfNew(path), acceptsText: acceptsWeakKeyFile)
    }
}
