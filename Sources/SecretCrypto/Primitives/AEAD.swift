import CSodium

/// XChaCha20-Poly1305 with a random nonce and a detached tag (draft-irtf-cfrg-xchacha-03,
/// `crypto_aead_xchacha20poly1305_ietf_*_detached`).
package enum AEAD {
    /// The size of a key in bytes.
    package static let keyCount = 32

    /// Encrypts `plaintext` and authenticates it together with `associatedData`.
    ///
    /// - Throws: `invalidParameter` if the key is not 32 bytes.
    package static func seal(
        _ plaintext: RawSpan, key: borrowing SecretBytes, associatedData: [UInt8]
    ) throws(CryptoError) -> (nonceAndTag: NonceAndTag, ciphertext: [UInt8]) {
        guard key.count == keyCount else { throw .invalidParameter }
        var nonceAndTag = NonceAndTag(nonceAndTag: [])
        let ciphertext = unsafe [UInt8](writing: plaintext.byteCount) { output in
            nonceAndTag = unsafe encrypt(plaintext, key: key, associatedData: associatedData, into: output)
        }
        return (nonceAndTag, ciphertext)
    }

    /// Decrypts into locked memory.
    ///
    /// - Throws: `authenticationFailed` if the key, the associated data, the nonce or the tag does not match;
    ///   `invalidParameter` if the key is not 32 bytes.
    package static func open(
        _ ciphertext: RawSpan, nonceAndTag: NonceAndTag, key: borrowing SecretBytes, associatedData: [UInt8],
        in arena: SecretArena = .shared
    ) throws(CryptoError) -> SecretBytes {
        var plaintext = try SecretBytes(count: ciphertext.byteCount, in: arena)
        var output = plaintext.mutableBytes
        try open(
            ciphertext, nonceAndTag: nonceAndTag.bytes.rawSpan, key: key, associatedData: associatedData, into: &output)
        return plaintext
    }

    /// Decrypts into the first bytes of `output` without allocation. They are zero after a failure.
    ///
    /// - Parameter nonceAndTag: The bytes of a ``NonceAndTag``.
    /// - Throws: `authenticationFailed`; `invalidParameter` if `output` is shorter than the ciphertext, the key is not 32 bytes,
    ///   or nonce and tag are not 40.
    package static func open(
        _ ciphertext: RawSpan, nonceAndTag: RawSpan, key: borrowing SecretBytes, associatedData: [UInt8],
        into output: inout MutableRawSpan
    ) throws(CryptoError) {
        guard key.count == keyCount, output.byteCount >= ciphertext.byteCount,
            nonceAndTag.byteCount == NonceAndTag.byteCount
        else { throw .invalidParameter }
        let result = unsafe output.withPointer { output in
            unsafe decrypt(ciphertext, nonceAndTag: nonceAndTag, key: key, associatedData: associatedData, into: output)
        }
        guard result == 0 else { throw .authenticationFailed }
    }

    /// Writes the ciphertext to `output`, which must have space for it.
    private static func encrypt(
        _ plaintext: RawSpan, key: borrowing SecretBytes, associatedData: [UInt8],
        into output: UnsafeMutablePointer<UInt8>
    ) -> NonceAndTag {
        let bytes = unsafe [UInt8](writing: NonceAndTag.byteCount) { nonce in
            unsafe NoncePool.shared.next(into: nonce)
            unsafe plaintext.withPointer { message in
                unsafe key.withPointer { key in
                    _ = unsafe crypto_aead_xchacha20poly1305_ietf_encrypt_detached(
                        output, nonce + NonceAndTag.nonceCount, nil, message, UInt64(plaintext.byteCount),
                        associatedData, UInt64(associatedData.count), nil, nonce, key)
                }
            }
        }
        return NonceAndTag(nonceAndTag: bytes)
    }

    /// Returns 0 if the tag matches. Otherwise `output` is zero.
    private static func decrypt(
        _ ciphertext: RawSpan, nonceAndTag: RawSpan, key: borrowing SecretBytes, associatedData: [UInt8],
        into output: UnsafeMutablePointer<UInt8>
    ) -> Int32 {
        unsafe ciphertext.withPointer { message in
            unsafe key.withPointer { key in
                unsafe nonceAndTag.withPointer { nonce in
                    unsafe crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
                        output, nil, message, UInt64(ciphertext.byteCount), nonce + NonceAndTag.nonceCount,
                        associatedData, UInt64(associatedData.count), nonce, key)
                }
            }
        }
    }
}
