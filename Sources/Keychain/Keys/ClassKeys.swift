package import SecretCrypto

/// One generation of the keys of a protection class, or the Always look-up and name keys.
///
/// Shared by all who use them; `revoke` takes them away from all at once.
package final class ClassKeys: Sendable {
    package let purpose: KeyPurpose
    package let generation: Int64
    /// Seals metadata; of the Always look-up keys the one that makes tags.
    package let metadata: RevocableSecret
    /// Seals contents; of the Always look-up keys the one that seals directory names.
    package let secret: RevocableSecret
    /// WhenUnlockedUnlessOpen: the X25519 secret key that opens what was added while locked.
    package let exchange: RevocableSecret?
    /// WhenUnlockedUnlessOpen: its public key, which outlives a lock. Comes from the sealed secret key, so nobody
    /// can put another in its place.
    package let publicKey: [UInt8]?

    /// From the wrapped bytes; `invalidParameter` if their count is wrong.
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

    /// Whether both are the same, compared in constant time; false once either is revoked.
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

    /// Wipes the keys, but for a public one; returns when their users are done.
    func revoke() {
        metadata.revoke()
        secret.revoke()
        exchange?.revoke()
    }
}

extension KeyPurpose {
    /// Bytes of a generation's keys.
    var materialCount: Int {
        self == .protection(.whenUnlockedUnlessOpen) ? 3 * AEAD.keyCount : 2 * AEAD.keyCount
    }

    /// What a generation is wrapped under, each wrapping once (contract, S3). Nothing else is ever accepted: who has
    /// the device key could else plant class keys that he knows.
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

    /// Every purpose there is.
    static let all: [KeyPurpose] = ProtectionClass.allCases.map { .protection($0) } + [.alwaysLookup]
}

extension Wrapping {
    /// Whether it is by one device for itself; the others are for all (device 0).
    var isOfOneDevice: Bool { self != .userKey }
}
