import CSodium

/// A keyed BLAKE2b hash (RFC 7693) over parts, the basis of all MACs and derived keys.
///
/// Each part is preceded by its length (8 bytes, little endian), so that different sequences of parts have different
/// input. The state contains the key and therefore is in the key's arena.
package struct KeyedHash: ~Copyable, Sendable {
    /// The valid sizes of hashes and keys in bytes.
    package static let counts = 16...64

    private var state: SecretBytes
    private let count: Int

    /// Begins a hash of `count` bytes.
    ///
    /// - Throws: `invalidParameter` if the size of the key or `count` is outside 16…64.
    package init(key: borrowing SecretBytes, count: Int) throws(CryptoError) {
        guard Self.counts.contains(count), Self.counts.contains(key.count) else { throw .invalidParameter }
        var state = try SecretBytes(count: crypto_generichash_statebytes(), in: key.home)
        unsafe key.withPointer { bytes in
            unsafe state.withMutablePointer { state in
                _ = unsafe crypto_generichash_init(OpaquePointer(state), bytes, key.count, count)
            }
        }
        self.state = state
        self.count = count
    }

    /// Adds a part.
    package mutating func update(part: [UInt8]) {
        update(part: part.rawSpan)
    }

    /// Adds a part.
    package mutating func update(part: RawSpan) {
        let prefix = UInt64(part.byteCount).littleEndian
        unsafe withUnsafeBytes(of: prefix) { unsafe absorb(RawSpan(_unsafeBytes: $0)) }
        absorb(part)
    }

    /// Adds a secret as a part.
    package mutating func update(secret: borrowing SecretBytes) {
        update(part: secret.bytes)
    }

    /// Returns the hash. For public hashes: MACs and lookup tags.
    package consuming func finish() -> [UInt8] {
        unsafe [UInt8](writing: count) { unsafe finish(into: $0) }
    }

    /// Returns the hash in locked memory, in the arena of the key. For derived keys.
    package consuming func finishSecret() throws(CryptoError) -> SecretBytes {
        var output = try SecretBytes(count: count, in: state.home)
        unsafe output.withMutablePointer { unsafe finish(into: $0) }
        return output
    }

    // libsodium's state type has an alignment of 64 bytes, which Swift cannot import: hence OpaquePointer. Its slab is
    // aligned to 512.

    private mutating func absorb(_ bytes: RawSpan) {
        unsafe bytes.withPointer { start in
            unsafe state.withMutablePointer { state in
                _ = unsafe crypto_generichash_update(OpaquePointer(state), start, UInt64(bytes.byteCount))
            }
        }
    }

    private mutating func finish(into output: UnsafeMutablePointer<UInt8>) {
        unsafe state.withMutablePointer { state in
            _ = unsafe crypto_generichash_final(OpaquePointer(state), output, count)
        }
        Sodium.wipeStack()
    }
}
