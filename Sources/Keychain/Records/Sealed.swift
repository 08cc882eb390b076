package import SecretCrypto

/// A sealed field as the store keeps it: nonce and tag apart from the ciphertext, which comes last in the row.
package struct Sealed: Hashable, Sendable {
    package var nonceAndTag: NonceAndTag
    package var ciphertext: [UInt8]

    package init(nonceAndTag: NonceAndTag, ciphertext: [UInt8]) {
        self.nonceAndTag = nonceAndTag
        self.ciphertext = ciphertext
    }
}
