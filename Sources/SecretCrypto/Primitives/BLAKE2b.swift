import CSodium

/// BLAKE2b (RFC 7693, `crypto_generichash`).
package enum BLAKE2b {
    /// The unkeyed hash of public bytes. `count` is brought into 16…64, what BLAKE2b gives.
    package static func hash(_ bytes: [UInt8], count: Int) -> [UInt8] {
        hash(bytes.rawSpan, count: count)
    }

    /// The unkeyed hash of public bytes. `count` is brought into 16…64, what BLAKE2b gives.
    package static func hash(_ bytes: RawSpan, count: Int) -> [UInt8] {
        Sodium.ensure()
        let count = min(max(count, KeyedHash.counts.lowerBound), KeyedHash.counts.upperBound)
        return unsafe [UInt8](writing: count) { output in
            unsafe bytes.withPointer { start in
                _ = unsafe crypto_generichash(output, count, start, UInt64(bytes.byteCount), nil, 0)
            }
        }
    }

    /// A MAC over parts, each preceded by its count (`KeyedHash`). Key or count outside 16…64: `invalidParameter`.
    package static func mac(
        key: borrowing SecretBytes, parts: [[UInt8]], count: Int
    ) throws(CryptoError) -> [UInt8] {
        var hash = try KeyedHash(key: key, count: count)
        for part in parts { hash.update(part: part) }
        return hash.finish()
    }

    /// The same into locked memory: a key from a key and what it is for.
    package static func derive(
        key: borrowing SecretBytes, parts: [[UInt8]], count: Int = 32
    ) throws(CryptoError) -> SecretBytes {
        var hash = try KeyedHash(key: key, count: count)
        for part in parts { hash.update(part: part) }
        return try hash.finishSecret()
    }

    /// A key from two secrets and what it is for: `key` is BLAKE2b's key, `label` its first part, `secret` the second,
    /// `parts` follow.
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
