import CSodium

/// HMAC (RFC 2104) with the hash functions of one-time codes (RFC 6238).
package enum HMAC {
    package enum Hash: String, CaseIterable, Sendable {
        case sha1 = "SHA1"
        case sha256 = "SHA256"
        case sha512 = "SHA512"
    }

    /// Returns the code of a public message under a key of any size.
    package static func code(
        of message: [UInt8], key: borrowing SecretBytes, hash: Hash
    ) throws(CryptoError) -> SecretBytes {
        Sodium.ensure()
        switch hash {
        case .sha1: return try sha1(message, key)
        case .sha256:
            return try unsafe sodium(
                crypto_auth_hmacsha256_state(), size: crypto_auth_hmacsha256_BYTES, message, key,
                start: crypto_auth_hmacsha256_init, update: crypto_auth_hmacsha256_update,
                end: crypto_auth_hmacsha256_final)
        case .sha512:
            return try unsafe sodium(
                crypto_auth_hmacsha512_state(), size: crypto_auth_hmacsha512_BYTES, message, key,
                start: crypto_auth_hmacsha512_init, update: crypto_auth_hmacsha512_update,
                end: crypto_auth_hmacsha512_final)
        }
    }

    /// Computes a code with libsodium's functions for keys of any size (crypto_auth_hmacsha256_init and so on).
    private static func sodium<State>(
        _ initial: State, size: UInt32, _ message: [UInt8], _ key: borrowing SecretBytes,
        start: (UnsafeMutablePointer<State>, UnsafePointer<UInt8>, Int) -> Int32,
        update: (UnsafeMutablePointer<State>, UnsafePointer<UInt8>?, UInt64) -> Int32,
        end: (UnsafeMutablePointer<State>, UnsafeMutablePointer<UInt8>) -> Int32
    ) throws(CryptoError) -> SecretBytes {
        var state = initial
        var output = try SecretBytes(count: Int(size))
        unsafe key.withPointer { bytes in _ = unsafe start(&state, bytes, key.count) }
        _ = unsafe update(&state, message, UInt64(message.count))
        unsafe output.withMutablePointer { bytes in _ = unsafe end(&state, bytes) }
        unsafe withUnsafeMutableBytes(of: &state) { unsafe sodium_memzero($0.baseAddress, $0.count) }
        return output
    }

    private static func sha1(_ message: [UInt8], _ key: borrowing SecretBytes) throws(CryptoError) -> SecretBytes {
        let block = try paddedKey(key)
        let innerKey = try mask(block, with: 0x36)
        let outerKey = try mask(block, with: 0x5C)
        let inner = try digest(of: innerKey.bytes, message.rawSpan)
        return try digest(of: outerKey.bytes, inner.bytes)
    }

    /// Returns the key, or the hash of a longer one, with zeros up to the block size.
    private static func paddedKey(_ key: borrowing SecretBytes) throws(CryptoError) -> SecretBytes {
        let short = key.count > SHA1.blockSize ? try digest(of: key.bytes) : try key.copy()
        var block = try SecretBytes(count: SHA1.blockSize)
        block.copy(short.bytes, at: 0)
        return block
    }

    private static func digest(of first: RawSpan, _ second: RawSpan = RawSpan()) throws(CryptoError) -> SecretBytes {
        var hash = try SHA1()
        hash.update(first)
        hash.update(second)
        return try hash.finish()
    }

    private static func mask(_ block: borrowing SecretBytes, with byte: UInt8) throws(CryptoError) -> SecretBytes {
        var masked = try block.copy()
        let octets = block.bytes.octets
        for index in octets.indices { masked.set(octets[index] ^ byte, at: index) }
        return masked
    }
}
