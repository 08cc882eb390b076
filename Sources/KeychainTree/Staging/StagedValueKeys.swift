import Keychain
import SecretCrypto
import Synchronization

/// The random keys of staged values: one per availability, so that a lock can wipe them.
final class StagedValueKeys: Sendable {
    private let keys = Mutex<[ProtectionClass.Availability: RevocableSecret]>([:])

    /// Returns the key for values of that availability; creates it if necessary.
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

    /// Wipes the key, which makes the values under it unreadable.
    func revoke(_ availability: ProtectionClass.Availability) {
        keys.withLock { $0.removeValue(forKey: availability) }?.revoke()
    }
}
