/// The nonce (24 bytes) and the authentication tag (16 bytes) of a ciphertext. Not secret.
package struct NonceAndTag: Hashable, Sendable {
    package static let byteCount = 40
    static let nonceCount = NoncePool.nonceCount
    static let tagCount = byteCount - nonceCount

    package let bytes: [UInt8]

    /// Creates a value from 40 bytes; nil for any other number.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Creates a value from 40 bytes; nil for any other number.
    package init?(bytes: ArraySlice<UInt8>) {
        self.init(bytes: Array(bytes))
    }

    /// Creates a value from 40 bytes; nil for any other number.
    package init?(bytes: RawSpan) {
        self.init(bytes: [UInt8](copying: bytes))
    }

    /// Creates a value from bytes that are known to be 40.
    init(nonceAndTag bytes: [UInt8]) {
        self.bytes = bytes
    }
}
