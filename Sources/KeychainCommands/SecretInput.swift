import Glibc
package import KeychainMount
import KeychainTree
package import SecretCrypto
import SystemPackage

/// The secret of a new item, from the terminal or from standard input. Never from an argument or a variable.
package enum SecretInput {
    /// Whether the secret is entered at a terminal.
    package static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// Reads the secret: from a terminal without echo, twice; otherwise all of standard input, bytes unchanged.
    ///
    /// - Parameters:
    ///   - item: The item, without effects on a terminal, for the prompt.
    ///   - dropsNewline: Whether one line feed at the end of standard input is dropped.
    /// - Throws: `noPassphrase` without a secret, or if the two entries differ; `impossible` if it is too long.
    package static func read(for item: String, dropsNewline: Bool) throws(CLIError) -> SecretBytes {
        if isTerminal { return try ask(for: item) }
        var secret: SecretBytes
        do throws(CryptoError) {
            secret = try SecretBytes.read(from: STDIN_FILENO, limit: TreeOptions.defaultValueLimit)
        } catch {
            throw CLIError(error, reading: "Standard input")
        }
        if dropsNewline, secret.count > 0, secret.bytes.octets[secret.count - 1] == UInt8(ascii: "\n") {
            secret.truncate(to: secret.count - 1)
        }
        guard secret.count > 0 else {
            throw CLIError(.noPassphrase, "Standard input contains no secret. Nothing was changed.")
        }
        return secret
    }

    private static func ask(for item: String) throws(CLIError) -> SecretBytes {
        let first = try line("Secret of \(item): ")
        let second = try line("Again: ")
        guard first.isEqual(to: second) else {
            throw CLIError(.noPassphrase, "The two entries differ. Nothing was changed.")
        }
        return first
    }

    private static func line(_ prompt: String) throws(CLIError) -> SecretBytes {
        do throws(PassphraseError) {
            return try PassphraseReader.ask(prompt)
        } catch {
            throw CLIError(error)
        }
    }
}

extension CLIError {
    /// Maps the reason why the terminal gave no secret.
    fileprivate init(_ error: PassphraseError) {
        switch error {
        case .tooLong:
            self.init(
                .impossible,
                """
                A line at a terminal has at most 4094 bytes: the kernel drops the rest. Pass a longer secret to standard \
                input. Nothing was changed.
                """)
        case .noTerminal:
            self.init(
                .noPassphrase,
                "There is no terminal to ask for the secret. Pass it to standard input. Nothing was changed.")
        case .interrupted: self.init(.interrupted, "Interrupted. Nothing was changed.")
        case .crypto(let error): self.init(error, reading: "The terminal")
        case .empty, .endOfFile, .notPrivate:
            self.init(.noPassphrase, "No secret was given. Nothing was changed.")
        }
    }

    /// Maps an error of reading a secret into locked memory.
    package init(_ error: CryptoError, reading source: String) {
        switch error {
        case .invalidParameter:
            self.init(.impossible, "\(source) has more than 1 MiB, the limit of a secret. Nothing was changed.")
        case .io(let code):
            self.init(.failure, "\(source) cannot be read: \(Errno(rawValue: code)). Nothing was changed.")
        default:
            self.init(
                .failure,
                "There is no locked memory left for the secret ('ulimit -l' shows the limit). Nothing was changed.")
        }
    }
}
