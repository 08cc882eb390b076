import CSodium

/// BLAKE2b (RFC 7693, `crypto_generichash`).
package enum BLAKE2b {
    /// Returns the unkeyed hash of public bytes. `count` is clamped to 16…64, the range of BLAKE2b.
    package static func hash(_ bytes: [UInt8], count: Int) -> [UInt8] {
        hash(bytes.rawSpan, count: count)
    }

    /// Returns the unkeyed hash of public bytes. `count` is clamped to 16…64, the range of BLAKE2b.
    package static func hash(_ bytes: RawSpan, count: Int) -> [UInt8] {
        Sodium.ensure()
        let count = min(max(count, KeyedHash.counts.lowerBound), KeyedHash.counts.upperBound)
        return unsafe [UInt8](writing: count) { output in
            unsafe bytes.withPointer { start in
                _ = unsafe crypto_generichash(output, count, start, UInt64(bytes.byteCount), nil, 0)
            }
        }
    }

    /// Returns a MAC over parts, each preceded by its length (`KeyedHash`).
    ///
    /// - Throws: `invalidParameter` if the size of the key or `count` is outside 16…64.
    package static func mac(
        key: borrowing SecretBytes, parts: [[UInt8]], count: Int
    ) throws(CryptoError) -> [UInt8] {
        var hash = try KeyedHash(key: key, count: count)
        for part in parts { hash.update(part: part) }
        return hash.finish()
    }

    /// Derives a key from a key and parts that state its purpose, into locked memory.
    ///
    /// - Throws: `invalidParameter` if the size of the key or `count` is outside 16…64.
    package static func derive(
        key: borrowing SecretBytes, parts: [[UInt8]], count: Int = 32
    ) throws(CryptoError) -> SecretBytes {
        var hash = try KeyedHash(key: key, count: count)
        for part in parts { hash.update(part: part) }
        return try hash.finishSecret()
    }

    /// Derives a key from two secrets. `key` is BLAKE2b's key, `secret` the last part.
    ///
    /// - Throws: `invalidParameter` if the size of the key or `count` is outside 16…64.
    package static func derive(
        key: borrowing SecretBytes, parts: [[UInt8]], secret: borrowing SecretBytes, count: Int = 32
    ) throws(CryptoError) -> SecretBytes {
        var hash = try KeyedHash(key: key, count: count)
        for part in parts { hash.update(part: part) }
        hash.update(secret: secret)
        return try hash.finishSecret()
    }

    /// Derives a key from two secrets. `key` is BLAKE2b's key; the parts are `label`, `secret` and `parts`, in this
    /// order.
    ///
    /// - Throws: `invalidParameter` if the size of the key or `count` is outside 16…64.
    package static func derive(
        key: borrowing SecretBytes, label: [UInt8], secret: borrowing SecretBytes, parts: [[UInt8]], count: Int = 32
    ) throws(CryptoError) -> SecretBytes {
        var hash = try KeyedHash(key: key, count: count)
        hash.update(part: label)
        hash.update(secret: secret)
        for part in parts { hash.update(part: part) }
        return try hash.finishSecret()
    }
}
