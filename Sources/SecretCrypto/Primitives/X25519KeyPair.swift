import CSodium

/// A Diffie-Hellman key pair (RFC 7748, `crypto_scalarmult`).
package struct X25519KeyPair: ~Copyable, Sendable {
    /// The size of a secret key, a public key and a shared secret in bytes.
    package static let keyCount = 32

    package let secretKey: SecretBytes
    package let publicKey: [UInt8]

    /// Creates a random key pair.
    package init(in arena: SecretArena = .shared) throws(CryptoError) {
        try self.init(secretKey: SecretBytes(randomCount: Self.keyCount, in: arena))
    }

    /// Creates the pair of a secret key. Any 32 bytes are valid (RFC 7748, 5, clamps them).
    ///
    /// - Throws: `invalidParameter` if the key is not 32 bytes.
    package init(secretKey: consuming SecretBytes) throws(CryptoError) {
        guard secretKey.count == Self.keyCount else { throw .invalidParameter }
        publicKey = unsafe [UInt8](writing: Self.keyCount) { output in
            unsafe secretKey.withPointer { _ = unsafe crypto_scalarmult_base(output, $0) }
        }
        Sodium.wipeStack()
        self.secretKey = secretKey
    }

    /// Returns the raw shared secret. It must be hashed together with both public keys before it is used as a key.
    ///
    /// - Throws: `invalidParameter` for a public key that is not 32 bytes; `authenticationFailed` for one of low order,
    ///   with which the result would be zero for every secret key.
    package func sharedSecret(with publicKey: [UInt8]) throws(CryptoError) -> SecretBytes {
        guard publicKey.count == Self.keyCount else { throw .invalidParameter }
        var shared = try SecretBytes(count: Self.keyCount, in: secretKey.home)
        let result = unsafe secretKey.withPointer { secretKey in
            unsafe shared.withMutablePointer { unsafe crypto_scalarmult($0, secretKey, publicKey) }
        }
        Sodium.wipeStack()
        guard result == 0 else { throw .authenticationFailed }
        return shared
    }
}
