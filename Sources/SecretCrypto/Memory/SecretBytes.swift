import CSodium
import Glibc

/// Secret bytes in locked memory. Owns its slab: wiped and freed when the value ends.
///
/// No description, no `Equatable`, no `Codable`, and no way to an array: what leaves, leaves through a span.
package struct SecretBytes: ~Copyable, Sendable {
    private let arena: SecretArena
    private let slab: Slab
    /// How many bytes there are; never secret.
    package private(set) var count: Int

    /// `count` zeros. `outOfSecretMemory` after waiting a second for room; a negative count: `invalidParameter`.
    package init(count: Int, in arena: SecretArena = .shared) throws(CryptoError) {
        slab = try arena.allocate(count)
        self.arena = arena
        self.count = count
    }

    /// A copy of `bytes`.
    package init(copying bytes: RawSpan, in arena: SecretArena = .shared) throws(CryptoError) {
        try self.init(count: bytes.byteCount, in: arena)
        copy(bytes, at: 0)
    }

    /// The same as ``init(count:in:)``, asked for again while there is no room: for whoever had rather wait than fail.
    package static func waiting(
        count: Int, attempts: Int, in arena: SecretArena = .shared
    ) throws(CryptoError) -> SecretBytes {
        for _ in 1..<max(1, attempts) {
            do throws(CryptoError) {
                return try SecretBytes(count: count, in: arena)
            } catch {
                guard error == .outOfSecretMemory else { throw error }
            }
        }
        return try SecretBytes(count: count, in: arena)
    }

    /// Bytes from the kernel's generator (getrandom(2)), written straight into the arena.
    package init(randomCount: Int, in arena: SecretArena = .shared) throws(CryptoError) {
        try self.init(count: randomCount, in: arena)
        unsafe randombytes_buf(address, count)
    }

    deinit {
        arena.free(slab)
    }

    /// The bytes, to read while this value is borrowed.
    package var bytes: RawSpan {
        @_lifetime(borrow self)
        get {
            let span = unsafe RawSpan(_unsafeStart: address, byteCount: count)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// The bytes, to change in place.
    package var mutableBytes: MutableRawSpan {
        @_lifetime(&self)
        mutating get {
            let span = unsafe MutableRawSpan(_unsafeStart: address, byteCount: count)
            return unsafe _overrideLifetime(span, mutating: &self)
        }
    }

    /// Keeps the first `count` bytes and wipes the rest; a count beyond the present one changes nothing.
    package mutating func truncate(to count: Int) {
        let kept = max(0, count)
        guard kept < self.count else { return }
        unsafe sodium_memzero(address + kept, self.count - kept)
        self.count = kept
    }

    /// A second secret of the same bytes, in the same arena.
    package func copy() throws(CryptoError) -> SecretBytes {
        try SecretBytes(copying: bytes, in: arena)
    }

    /// A copy of a part; `invalidParameter` if it is not all there.
    package func slice(_ range: Range<Int>) throws(CryptoError) -> SecretBytes {
        guard range.lowerBound >= 0, range.upperBound <= count else { throw .invalidParameter }
        return try SecretBytes(copying: bytes.extracting(range), in: arena)
    }

    /// Overwrites from `offset` on; what does not fit is left out. The caller has checked.
    mutating func copy(_ source: RawSpan, at offset: Int) {
        let freeBytes = min(source.byteCount, count - offset)
        guard freeBytes > 0, offset >= 0 else { return }
        unsafe source.withPointer { _ = unsafe memcpy(address + offset, $0, freeBytes) }
    }

    /// The bytes for a C function that writes; valid inside `body` only.
    mutating func withMutablePointer<T, E>(_ body: (UnsafeMutablePointer<UInt8>) throws(E) -> T) throws(E) -> T {
        try unsafe body(address.assumingMemoryBound(to: UInt8.self))
    }

    /// The bytes for a C function that reads; valid inside `body` only.
    func withPointer<T, E>(_ body: (UnsafePointer<UInt8>) throws(E) -> T) throws(E) -> T {
        try unsafe body(UnsafePointer(address.assumingMemoryBound(to: UInt8.self)))
    }

    private var address: UnsafeMutableRawPointer { unsafe arena.address(of: slab) }

    /// The arena that holds the bytes, for what is derived from them.
    var home: SecretArena { arena }
}

extension SecretBytes {
    /// Whether both hold the same bytes, in a time that depends on the count only (`sodium_memcmp`).
    package func isEqual(to other: borrowing SecretBytes) -> Bool {
        Self.areEqual(bytes, other.bytes)
    }

    /// The same for bytes that lie elsewhere: tags, MACs. Different counts are unequal at once.
    package static func areEqual(_ one: RawSpan, _ other: RawSpan) -> Bool {
        guard one.byteCount == other.byteCount else { return false }
        return unsafe one.withPointer { first in
            unsafe other.withPointer { second in unsafe sodium_memcmp(first, second, one.byteCount) == 0 }
        }
    }
}
