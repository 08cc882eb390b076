package import SecretCrypto

extension Argon2id.Cost {
    /// The cheapest there is: debug builds take it, release builds refuse it.
    package static let cheap = Argon2id.Cost(passes: 1, memory: 8192)
}

extension SecretBytes {
    /// A secret from plain text.
    package init(text: String) throws(CryptoError) {
        try self.init(copying: Array(text.utf8).rawSpan)
    }
}
