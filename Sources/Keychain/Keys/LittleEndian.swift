/// Fixed-width integers as the format has them: least significant byte first.
extension [UInt8] {
    /// The bytes of one number.
    package init(littleEndian number: some FixedWidthInteger) {
        self = []
        append(littleEndian: number)
    }

    package mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
        for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}
