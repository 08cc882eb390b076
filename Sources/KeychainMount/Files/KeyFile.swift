import Foundation
package import Keychain
import SecretCrypto
import SystemPackage

/// A file whose contents unlock a keychain.
package struct KeyFile: Sendable {
    package let path: String
    /// A file that is not private to root or to this user is refused, not warned of.
    private let mustBePrivate: Bool

    package init(path: String, mustBePrivate: Bool = false) {
        self.path = path
        self.mustBePrivate = mustBePrivate
    }

    /// All of its bytes; `say` gets warnings. Regular files only, so that nothing is waited for.
    package func read(say: (String) -> Void) throws(Failure) -> UnlockSecret {
        let counts = UnlockSecret.keyFileCounts
        let contents: SecretBytes
        do throws(SecretFileError) {
            let found = try SecretFile.read(path, limit: counts.upperBound, mustBePrivate: mustBePrivate)
            if found.isExposed { say("warning: \(path) can be read by others. 'chmod 600' it.") }
            contents = found.take()
        } catch {
            throw failure(error)
        }
        let count = contents.count
        do throws(KeychainError) {
            return try UnlockSecret(keyFile: contents)
        } catch {
            throw Failure(
                .noPassphrase,
                count == 0
                    ? "The key file \(path) is empty."
                    : "The key file \(path) has \(count) bytes, and one of fewer than \(counts.lowerBound) can be guessed."
            )
        }
    }

    private func failure(_ error: SecretFileError) -> Failure {
        switch error {
        case .notRegular: Failure(.noPassphrase, "The key file \(path) is refused: it is no regular file.")
        case .notPrivate:
            Failure(
                .noPassphrase,
                "The key file \(path) is refused: it must be of root or of the mounting user, and nobody else may read or "
                    + "write it ('chmod 600').")
        case .tooLong:
            Failure(
                .noPassphrase,
                "The key file \(path) is too large: it may have \(UnlockSecret.keyFileCounts.upperBound) bytes.")
        case .crypto(.io(let code)):
            Failure(.noPassphrase, "The key file \(path) cannot be read: \(Errno(rawValue: code)).")
        case .crypto: Failure(.failure, "There is no locked memory left for the key file.")
        }
    }
}
