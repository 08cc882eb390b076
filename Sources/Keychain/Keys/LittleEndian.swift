/// Fixed-width integers in the store format: least significant byte first.
extension [UInt8] {
    /// Creates the bytes of a number of at most 64 bits.
    package init(littleEndian number: some FixedWidthInteger) {
        self = []
        append(littleEndian: number)
    }

    /// Appends the bytes of a number of at most 64 bits.
    package mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
        append(UInt64(truncatingIfNeeded: number), count: Number.bitWidth / 8)
    }

    /// Appends the 8 bytes of a number. Not generic, because a debug build does not specialize generic integers.
    package mutating func append(littleEndian number: Int64) { append(UInt64(bitPattern: number), count: 8) }
    package mutating func append(littleEndian number: UInt64) { append(number, count: 8) }

    /// Appends the lowest bytes of a number. Shifts in a loop with an index: a debug build does not specialize ranges
    /// either, which took 9 % of the time of all tests.
    private mutating func append(_ number: UInt64, count: Int) {
        var rest = number
        var count = count
        while count > 0 {
            append(UInt8(truncatingIfNeeded: rest))
            rest &>>= 8
            count -= 1
        }
    }
}
