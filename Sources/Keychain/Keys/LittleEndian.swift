/// Fixed-width integers in the store format: least significant byte first.
extension [UInt8] {
    /// Creates the bytes of a number of at most 64 bits.
    package init(littleEndian number: some FixedWidthInteger) {
        self = []
        append(littleEndian: number)
    }

    /// Appends the bytes of a number of at most 64 bits. Shifts a `UInt64` in a loop with an index: a debug build does
    /// not specialize generic integers and ranges, which took 9 % of the time of all tests.
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
