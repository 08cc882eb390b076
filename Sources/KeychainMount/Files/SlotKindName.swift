import Keychain

extension SlotKind {
    /// The name on a command line and in JSON.
    var name: String {
        switch self {
        case .passphrase: "passphrase"
        case .recoveryKey: "recovery"
        case .keyFile: "keyfile"
        case .tpm2: "tpm2"
        case .fido2: "fido2"
        case .systemdCredential: "systemd-credential"
        case .passphraseAndKeyFile: "passphrase-and-keyfile"
        case .plugin: "plugin"
        case .later: "unknown"
        }
    }

    /// Creates a kind by its name; nil if it is unknown.
    init?(name: String) {
        guard let kind = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = kind
    }
}
