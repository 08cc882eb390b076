import SecretCrypto

/// Fixed-width integers as the format has them: least significant byte first.
extension [UInt8] {
    /// The bytes of one number.
    package init(littleEndian number: some FixedWidthInteger & BitwiseCopyable) {
        self = []
        append(littleEndian: number)
    }

    /// Appends the bytes of a number. Copies its memory: a debug build does not specialize a loop over the bytes of a generic
    /// integer, which was a tenth of the time of all tests.
    package mutating func append(littleEndian number: some FixedWidthInteger & BitwiseCopyable) {
        append(memoryOf: number.littleEndian)
    }
}
