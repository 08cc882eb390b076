import Keychain
public import KeychainClient
import SecretCrypto

/// The unlock secret of a keychain file.
public enum UnlockMethod: ~Copyable, Sendable {
    case passphrase(Secret)
    /// The recovery key as it was written down. Lowercase letters, blanks and missing dashes are accepted.
    case recoveryKey(Secret)
    /// The contents of a key file.
    case keyFile(Secret)

    func unlockSecret() throws(KeychainFileError) -> UnlockSecret {
        switch self {
        case .passphrase(let secret): return UnlockSecret(passphrase: try Self.copy(secret))
        case .recoveryKey(let secret): return try Self.recoveryKey(secret)
        case .keyFile(let secret):
            let contents = try Self.copy(secret)
            do { return try UnlockSecret(keyFile: contents) } catch { throw KeychainFileError(error) }
        }
    }

    private static func recoveryKey(_ typed: borrowing Secret) throws(KeychainFileError) -> UnlockSecret {
        do throws(RecoveryKeyError) {
            let key = try RecoveryKey(typed: typed.bytes)
            do throws(CryptoError) { return try UnlockSecret(recoveryKey: key) } catch { throw .crypto(error) }
        } catch .crypto {
            throw .outOfMemory
        } catch {
            throw .badSecret
        }
    }

    private static func copy(_ secret: borrowing Secret) throws(KeychainFileError) -> SecretBytes {
        do { return try secret.bytes.copy() } catch { throw .outOfMemory }
    }
}
