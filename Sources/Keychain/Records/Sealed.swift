package import SecretCrypto

/// A sealed field: nonce and tag, and the ciphertext, which is the last column of the row.
package struct Sealed: Hashable, Sendable {
    package var nonceAndTag: NonceAndTag
    package var ciphertext: [UInt8]

    package init(nonceAndTag: NonceAndTag, ciphertext: [UInt8]) {
        self.nonceAndTag = nonceAndTag
        self.ciphertext = ciphertext
    }
}
