package import SecretCrypto
import SystemPackage

/// The source of a passphrase: a file, standard input, or the terminal.
package struct PassphraseSource: Sendable {
    private let file: String?
    /// Whether a file that is not private to root or to this user is refused, instead of a warning.
    private let mustBePrivate: Bool

    /// - Parameter file: `-` for standard input, nil for the terminal.
    package init(file: String?, mustBePrivate: Bool = false) {
        self.file = file
        self.mustBePrivate = mustBePrivate
    }

    /// Reads the passphrase once. It is never read from an argument or an environment variable.
    ///
    /// - Parameters:
    ///   - what: The name of the secret, for the prompt.
    ///   - keychain: The name, path or mount point of the keychain, for the prompt.
    ///   - showMessage: Called with warnings.
    package func read(
        _ what: String = "Passphrase", for keychain: String, showMessage: (String) -> Void
    ) throws(CLIError) -> SecretBytes {
        try read(prompt: "\(what) for \(Printable.text(keychain)): ", showMessage: showMessage)
    }

    private func read(prompt: String, showMessage: (String) -> Void) throws(CLIError) -> SecretBytes {
        do throws(PassphraseError) {
            guard let file else { return try PassphraseReader.ask(prompt) }
            let input = try PassphraseReader.read(file: file, mustBePrivate: mustBePrivate)
            if input.isExposed { showMessage(KeychainPath.exposed(file)) }
            return input.take()
        } catch {
            throw CLIError(error, file: file)
        }
    }

    /// Reads a new passphrase, on a terminal twice. A warning that it can be guessed precedes the second time, so that the user can
    /// end the command with ^C.
    package func readNew(for keychain: String, showMessage: (String) -> Void) throws(CLIError) -> SecretBytes {
        let first = try read("New passphrase", for: keychain, showMessage: showMessage)
        if let weakness = PassphraseWeakness(of: first) { showMessage("warning: \(weakness.text)") }
        guard file == nil else { return first }
        let second = try read(prompt: "Again: ", showMessage: showMessage)
        guard first.isEqual(to: second) else {
            throw CLIError(.noPassphrase, "The two passphrases differ. Nothing was created.")
        }
        return first
    }
}

extension CLIError {
    /// Maps the reason why there is no passphrase to a message with the remedy.
    fileprivate init(_ error: PassphraseError, file: String?) {
        let source = file.map { $0 == "-" ? "Standard input" : "The passphrase file \($0)" } ?? "The terminal"
        let advice =
            "Use --passphrase-file FILE, the variable KEYCHAINFS_PASSPHRASE_FILE, or in fstab the option passphrase_file=FILE."
        switch error {
        case .empty: self.init(.noPassphrase, "\(source) contains an empty passphrase.")
        case .notPrivate:
            self.init(
                .noPassphrase,
                "\(source) is refused: it must be a regular file of root or of the mounting user that other users cannot read "
                    + "or write ('chmod 600').")
        case .tooLong: self.init(.noPassphrase, "\(source) has more than 64 KiB, which is too long for a passphrase.")
        case .noTerminal: self.init(.noPassphrase, "There is no terminal to ask for the passphrase. \(advice)")
        case .interrupted, .endOfFile: self.init(.noPassphrase, "No passphrase was given.")
        case .crypto(.io(let code)):
            self.init(.noPassphrase, "\(source) cannot be read: \(Errno(rawValue: code)).")
        case .crypto: self.init(.failure, "There is no locked memory left for the passphrase.")
        }
    }
}
