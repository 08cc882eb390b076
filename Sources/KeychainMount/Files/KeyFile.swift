import Foundation
package import Keychain
import SecretCrypto
import SystemPackage

/// A file whose contents unlock a keychain.
package struct KeyFile: Sendable {
    package let path: String
    /// Whether a file that is not private to root or to this user is refused, instead of a warning.
    private let mustBePrivate: Bool
    /// Whether printable text is refused: a typed text can be guessed, and no slow key derivation is used.
    private let refusesText: Bool

    package init(path: String, mustBePrivate: Bool = false, refusesText: Bool = false) {
        self.path = path
        self.mustBePrivate = mustBePrivate
        self.refusesText = refusesText
    }

    /// Reads all bytes. Regular files only, so that reading does not block.
    ///
    /// - Parameter showMessage: Called with warnings.
    package func read(showMessage: (String) -> Void) throws(CLIError) -> UnlockSecret {
        let contents = try contents(showMessage: showMessage)
        let count = contents.count
        guard UnlockSecret.keyFileCounts.contains(count) else { throw tooShort(count) }
        if refusesText, contents.isPrintableText { throw isText }
        do throws(KeychainFault) {
            return try UnlockSecret(keyFile: contents)
        } catch {
            throw CLIError(.failure, "There is no locked memory left for the key file.")
        }
    }

    private func contents(showMessage: (String) -> Void) throws(CLIError) -> SecretBytes {
        let limit = UnlockSecret.keyFileCounts.upperBound
        do throws(SecretFileError) {
            let found = try SecretFile.read(path, limit: limit, mustBePrivate: mustBePrivate)
            if found.isExposed { showMessage(KeychainPath.exposed(path)) }
            return found.take()
        } catch {
            throw failure(error)
        }
    }

    private var isText: CLIError {
        CLIError(
            .noPassphrase,
            """
            The key file \(path) is refused: it is printable text, which may be guessed, and a key file is not protected by a slow \
            key derivation. Name a file that does not exist, and it is created with random bytes; for text that is random, \
            use --weak-key-file.
            """)
    }

    private func tooShort(_ count: Int) -> CLIError {
        let size = count == 0 ? "is empty" : "has " + Counted.bytes(count)
        return CLIError(
            .noPassphrase,
            """
            The key file \(path) is refused: it \(size), and one of fewer than \
            \(UnlockSecret.keyFileCounts.lowerBound) can be guessed. For a new slot, name a file that does not exist: it is \
            created with random bytes.
            """)
    }

    private func failure(_ error: SecretFileError) -> CLIError {
        switch error {
        case .notRegular: CLIError(.noPassphrase, "The key file \(path) is refused: it is no regular file.")
        case .notPrivate:
            CLIError(
                .noPassphrase,
                "The key file \(path) is refused: it must belong to root or the mounting user, and other users must not read or "
                    + "write it ('chmod 600').")
        case .othersMayWrite:
            CLIError(
                .noPassphrase,
                "The key file \(path) is refused: other users may write to it, and so know it ('chmod 600', or 'chown' it to "
                    + "this user).")
        case .tooLong:
            CLIError(
                .noPassphrase,
                "The key file \(path) is too large: it may have \(UnlockSecret.keyFileCounts.upperBound) bytes.")
        case .crypto(.io(let code)):
            CLIError(.noPassphrase, "The key file \(path) cannot be read: \(Errno(rawValue: code)).")
        case .crypto: CLIError(.failure, "There is no locked memory left for the key file.")
        }
    }
}
