import CSodium

/// BLAKE2b (RFC 7693) under a key, fed part by part: the base of every MAC and every derived key here.
///
/// Each part is preceded by its count (8 bytes, little endian), so that parts cannot be shifted into one another;
/// secrets and plain parts count alike. The state contains the key, so it lies in the key's arena.
package struct KeyedHash: ~Copyable, Sendable {
    /// What BLAKE2b gives and takes as a key, in bytes.
    package static let counts = 16...64

    private var state: SecretBytes
    private let count: Int

    /// Begins a hash of `count` bytes. Key or count outside 16…64: `invalidParameter`.
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

    /// The hash, for what is no secret: MACs, look-up tags.
    package consuming func finish() -> [UInt8] {
        unsafe [UInt8](writing: count) { unsafe finish(into: $0) }
    }

    /// The hash in locked memory, for keys; in the arena of the first key.
    package consuming func finishSecret() throws(CryptoError) -> SecretBytes {
        var output = try SecretBytes(count: count, in: state.home)
        unsafe output.withMutablePointer { unsafe finish(into: $0) }
        return output
    }

    // The state is over-aligned (64), which Swift cannot import: hence OpaquePointer. Its slab is aligned to 512.

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
