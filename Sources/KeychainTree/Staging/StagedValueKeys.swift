import Keychain
import SecretCrypto
import Synchronization

/// The random keys that staged values are kept under: one per availability, so that a lock can take them away.
final class StagedValueKeys: Sendable {
    private let keys = Mutex<[ProtectionClass.Availability: RevocableSecret]>([:])

    /// The key for values of that availability, made when first asked for.
    func key(for availability: ProtectionClass.Availability) throws(KeychainFault) -> RevocableSecret {
        do {
            return try keys.withLock { (keys) throws(CryptoError) in
                if let key = keys[availability] { return key }
                let key = RevocableSecret(try SecretBytes(randomCount: 32))
                keys[availability] = key
                return key
            }
        } catch {
            throw .allocate
        }
    }

    /// Wipes the key: what is staged under it is noise from now on.
    func revoke(_ availability: ProtectionClass.Availability) {
        keys.withLock { $0.removeValue(forKey: availability) }?.revoke()
    }
}
