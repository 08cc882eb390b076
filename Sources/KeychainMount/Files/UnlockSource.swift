package import Keychain
import SecretCrypto

/// The source of an unlock secret.
package enum UnlockSource: Sendable {
    case passphrase(PassphraseSource)
    /// A recovery key, typed at the terminal or in a file.
    case recoveryKey(PassphraseSource)
    case keyFile(KeyFile)
    /// A passphrase and a key file, which open a slot only together.
    case passphraseAndKeyFile(PassphraseSource, KeyFile)

    package var kind: SlotKind {
        switch self {
        case .passphrase: .passphrase
        case .recoveryKey: .recoveryKey
        case .keyFile: .keyFile
        case .passphraseAndKeyFile: .passphraseAndKeyFile
        }
    }

    /// Reads the secret once.
    ///
    /// - Parameters:
    ///   - keychain: The name, path or mount point of the keychain, for the prompt.
    ///   - showMessage: Called with warnings.
    package func read(for keychain: String, showMessage: (String) -> Void) throws(CLIError) -> UnlockSecret {
        switch self {
        case .passphrase(let source):
            return UnlockSecret(passphrase: try source.read(for: keychain, showMessage: showMessage))
        case .recoveryKey(let source):
            let typed = try source.read("Recovery key", for: keychain, showMessage: showMessage)
            return try Self.recoveryKey(typed)
        case .keyFile(let file): return try file.read(showMessage: showMessage)
        case .passphraseAndKeyFile(let source, let file):
            // A missing key file is reported before the user types anything.
            let contents = try file.read(showMessage: showMessage)
            return try UnlockSecret(both: source.read(for: keychain, showMessage: showMessage), contents)
        }
    }

    private static func recoveryKey(_ typed: borrowing SecretBytes) throws(CLIError) -> UnlockSecret {
        do throws(RecoveryKeyError) {
            let key = try RecoveryKey(typed: typed)
            do throws(CryptoError) { return try UnlockSecret(recoveryKey: key) } catch { throw .crypto(error) }
        } catch {
            throw CLIError(error)
        }
    }
}

extension UnlockSecret {
    /// Combines a passphrase with a key file.
    init(both passphrase: borrowing SecretBytes, _ keyFile: borrowing UnlockSecret) throws(CLIError) {
        do throws(KeychainFault) {
            try self.init(passphrase: passphrase, keyFile: keyFile.bytes)
        } catch {
            throw CLIError(.failure, "There is no locked memory left for the passphrase and the key file.")
        }
    }
}

extension MountOptionList {
    /// Returns the file that the options name, which must be private; otherwise `other`.
    package func unlockSource(else other: UnlockSource) -> UnlockSource {
        if let keyFile { return .keyFile(KeyFile(path: keyFile, mustBePrivate: true)) }
        guard let passphraseFile else { return other }
        return .passphrase(PassphraseSource(file: passphraseFile, mustBePrivate: true))
    }
}

extension CLIError {
    /// Maps the reason why typed text is not a recovery key to a message.
    init(_ error: RecoveryKeyError) {
        switch error {
        case .mistyped(let groups) where groups.count == 1:
            self.init(.wrongPassphrase, "Group \(groups[0]) of the recovery key is mistyped. Check it and try again.")
        case .mistyped(let groups):
            let list = groups.map(String.init).joined(separator: ", ")
            self.init(.wrongPassphrase, "Groups \(list) of the recovery key are mistyped. Check them and try again.")
        case .wrongLength(let count):
            self.init(.wrongPassphrase, "A recovery key has 36 characters in 6 groups of 6; this has \(count).")
        case .crypto: self.init(.failure, "There is no locked memory left for the recovery key.")
        }
    }
}
