/// Stand-ins until SecretCrypto lands.
package struct Seal: Hashable, Sendable {
    package static let byteCount = 40
    package let bytes: [UInt8]
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }
}
package enum Argon2id {
    package struct Cost: Hashable, Sendable {
        package var passes: UInt64
        package var memory: UInt64
        package init(passes: UInt64, memory: UInt64) {
            self.passes = passes
            self.memory = memory
        }
    }
}
