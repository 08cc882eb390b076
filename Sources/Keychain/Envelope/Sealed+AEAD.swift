import SecretCrypto

/// How a field is sealed and opened, whatever it holds.
extension Sealed {
    /// Seals `plaintext` and binds `bound` to it.
    static func sealing(
        _ plaintext: RawSpan, key: borrowing SecretBytes, bound: AssociatedData
    ) throws(CryptoError) -> Sealed {
        let (nonceAndTag, ciphertext) = try AEAD.seal(plaintext, key: key, associatedData: bound.bytes)
        return Sealed(nonceAndTag: nonceAndTag, ciphertext: ciphertext)
    }

    /// Opens a field of fixed size; `authenticationFailed`, before any memory is asked for, if it has another.
    func open(
        key: borrowing SecretBytes, bound: AssociatedData, count: Int
    ) throws(CryptoError) -> SecretBytes {
        guard ciphertext.count == count else { throw .authenticationFailed }
        return try AEAD.open(ciphertext.rawSpan, nonceAndTag: nonceAndTag, key: key, associatedData: bound.bytes)
    }

    /// The same for a field of padded metadata.
    func openPadded(key: borrowing SecretBytes, bound: AssociatedData) throws(CryptoError) -> SecretBytes {
        guard PaddedPlaintext.counts.contains(ciphertext.count) else { throw .authenticationFailed }
        return try open(key: key, bound: bound, count: ciphertext.count)
    }
}
