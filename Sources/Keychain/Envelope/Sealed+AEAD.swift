import SecretCrypto

/// Sealing and opening of fields.
extension Sealed {
    /// Seals `plaintext`, and authenticates it together with `bound`.
    static func sealing(
        _ plaintext: RawSpan, key: borrowing SecretBytes, bound: AssociatedData
    ) throws(CryptoError) -> Sealed {
        let (nonceAndTag, ciphertext) = try AEAD.seal(plaintext, key: key, associatedData: bound.bytes)
        return Sealed(nonceAndTag: nonceAndTag, ciphertext: ciphertext)
    }

    /// Opens a field of fixed size.
    ///
    /// - Throws: `authenticationFailed`, before memory is allocated, if it has another size.
    func open(
        key: borrowing SecretBytes, bound: AssociatedData, count: Int
    ) throws(CryptoError) -> SecretBytes {
        guard ciphertext.count == count else { throw .authenticationFailed }
        return try AEAD.open(ciphertext.rawSpan, nonceAndTag: nonceAndTag, key: key, associatedData: bound.bytes)
    }

    /// Opens a field of padded metadata.
    func openPadded(key: borrowing SecretBytes, bound: AssociatedData) throws(CryptoError) -> SecretBytes {
        guard PaddedPlaintext.counts.contains(ciphertext.count) else { throw .authenticationFailed }
        return try open(key: key, bound: bound, count: ciphertext.count)
    }
}
