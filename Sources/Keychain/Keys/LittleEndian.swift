/// Fixed-width integers as the format has them: least significant byte first.
extension [UInt8] {
    /// The bytes of one number of at most 64 bits.
    package init(littleEndian number: some FixedWidthInteger) {
        self = []
        append(littleEndian: number)
    }

    /// Appends the bytes of a number of at most 64 bits. Shifts a `UInt64` and counts by hand: a debug build does not specialize
    /// generic integers and ranges, which took 9 % of the time of all tests.
    package mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
        var rest = UInt64(truncatingIfNeeded: number)
        var count = Number.bitWidth / 8
        while count > 0 {
            append(UInt8(truncatingIfNeeded: rest))
            rest &>>= 8
            count -= 1
        }
    }
}
