package import SecretCrypto

/// The keys of a protection class in one generation, or the Always lookup and name keys.
///
/// Shared by all users; `revoke` wipes them for all.
package final class ClassKeys: Sendable {
    package let purpose: KeyPurpose
    package let generation: Int64
    /// The key for metadata; of the Always lookup keys the key for tags.
    package let metadata: RevocableSecret
    /// The key for secrets; of the Always lookup keys the key for directory names.
    package let secret: RevocableSecret
    /// WhenUnlockedUnlessOpen: the X25519 secret key that opens items added while locked.
    package let exchange: RevocableSecret?
    /// WhenUnlockedUnlessOpen: its public key, which remains after a lock. Derived from the sealed secret key, so that
    /// it cannot be replaced.
    package let publicKey: [UInt8]?

    /// Creates keys from unwrapped bytes.
    ///
    /// - Throws: `invalidParameter` if their number is wrong.
    init(purpose: KeyPurpose, generation: Int64, material: borrowing SecretBytes) throws(CryptoError) {
        guard material.count == purpose.materialCount else { throw .invalidParameter }
        self.purpose = purpose
        self.generation = generation
        metadata = RevocableSecret(try material.slice(0..<32))
        secret = RevocableSecret(try material.slice(32..<64))
        guard purpose == .protection(.whenUnlockedUnlessOpen) else {
            exchange = nil
            publicKey = nil
            return
        }
        exchange = RevocableSecret(try material.slice(64..<96))
        publicKey = try X25519KeyPair(secretKey: material.slice(64..<96)).publicKey
    }

    /// Whether the keys can be used now. May change at any time.
    package var isAvailable: Bool { metadata.isAvailable }

    /// Whether both are equal, compared in constant time; false once either is revoked.
    func hasSameKeys(as other: ClassKeys) -> Bool {
        Self.areEqual(metadata, other.metadata) && Self.areEqual(secret, other.secret)
            && publicKey == other.publicKey
    }

    private static func areEqual(_ one: RevocableSecret, _ other: RevocableSecret) -> Bool {
        do throws(CryptoError) {
            return try one.use { (one) throws(CryptoError) in
                try other.use { (other) throws(CryptoError) in one.isEqual(to: other) }
            }
        } catch {
            return false
        }
    }

    /// Wipes the keys except the public one. Returns when no thread uses them.
    func revoke() {
        metadata.revoke()
        secret.revoke()
        exchange?.revoke()
    }
}

extension KeyPurpose {
    /// The size of a generation's keys in bytes.
    var materialCount: Int {
        self == .protection(.whenUnlockedUnlessOpen) ? 3 * AEAD.keyCount : 2 * AEAD.keyCount
    }

    /// The keys under which a generation is wrapped, once each (contract, S3). No other wrapping is accepted, because
    /// an attacker with the device key could otherwise plant known class keys.
    var wrappings: [Wrapping] {
        switch self {
        case .protection(.whenUnlockedUnlessOpen), .protection(.whenUnlocked), .protection(.afterFirstUnlock):
            [.userKey]
        case .protection(.whenUnlockedThisDeviceOnly), .protection(.afterFirstUnlockThisDeviceOnly),
            .protection(.whenPasscodeSetThisDeviceOnly):
            [.userAndDeviceKey]
        case .protection(.alwaysThisDeviceOnly): [.deviceKey]
        case .protection(.always), .alwaysLookup: [.userKey, .deviceKey]
        }
    }

    /// All purposes.
    static let all: [KeyPurpose] = ProtectionClass.allCases.map { .protection($0) } + [.alwaysLookup]
}

extension Wrapping {
    /// Whether a wrapping is created by one device for itself; others are for all devices (device 0).
    var isOfOneDevice: Bool { self != .userKey }
}
