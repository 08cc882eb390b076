package import SecretCrypto

/// A sealed field as the store keeps it: nonce and tag apart from the ciphertext, which comes last in the row.
package struct Sealed: Hashable, Sendable {
    package var seal: NonceAndTag
    package var ciphertext: [UInt8]

    package init(seal: NonceAndTag, ciphertext: [UInt8]) {
        self.seal = seal
        self.ciphertext = ciphertext
    }
}
