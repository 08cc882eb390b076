/// What a sealed value carries beside its ciphertext: nonce (24 bytes), then tag (16). Not secret.
package struct NonceAndTag: Hashable, Sendable {
    package static let byteCount = 40
    static let nonceCount = NoncePool.nonceCount
    static let tagCount = byteCount - nonceCount

    package let bytes: [UInt8]

    /// Nil unless there are 40 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Nil unless there are 40 bytes.
    package init?(bytes: ArraySlice<UInt8>) {
        self.init(bytes: Array(bytes))
    }

    /// Nil unless there are 40 bytes.
    package init?(bytes: RawSpan) {
        self.init(bytes: [UInt8](copying: bytes))
    }

    /// Of bytes that are known to be 40.
    init(nonceAndTag bytes: [UInt8]) {
        self.bytes = bytes
    }
}
