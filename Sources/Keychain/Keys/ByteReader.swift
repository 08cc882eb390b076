/// Reads a short sequence of bytes. Missing bytes are `decode`, never a trap.
struct ByteReader {
    private let source: ArraySlice<UInt8>
    private var position: Int

    init(_ source: ArraySlice<UInt8>) {
        self.source = source
        position = source.startIndex
    }

    init(_ source: [UInt8]) { self.init(source[...]) }

    var isAtEnd: Bool { position == source.endIndex }

    /// Reads a number of at most 64 bits, least significant byte first. Shifts a `UInt64` in a loop with an index: a
    /// debug build does not specialize generic integers and ranges, which took 3 % of the time of all tests.
    mutating func integer<Number: FixedWidthInteger>(
        _ type: Number.Type = Number.self
    ) throws(KeychainFault) -> Number {
        Number(truncatingIfNeeded: try number(width: Number.bitWidth / 8))
    }

    /// Reads 8 bytes. Not generic, because a debug build does not specialize generic integers.
    mutating func integer() throws(KeychainFault) -> Int64 { Int64(bitPattern: try number(width: 8)) }
    mutating func integer() throws(KeychainFault) -> UInt64 { try number(width: 8) }

    private mutating func number(width: Int) throws(KeychainFault) -> UInt64 {
        guard source.endIndex - position >= width else { throw .decode }
        var number: UInt64 = 0
        var index = position + width
        while index > position {
            index -= 1
            number = number &<< 8 | UInt64(source[index])
        }
        position += width
        return number
    }

    mutating func bytes(_ count: Int) throws(KeychainFault) -> [UInt8] {
        Array(try slice(count))
    }

    /// Reads a size (32 bits), then that number of bytes.
    mutating func counted() throws(KeychainFault) -> [UInt8] {
        Array(try countedSlice())
    }

    /// Reads a size (32 bits), then that number of bytes, without a copy.
    mutating func countedSlice() throws(KeychainFault) -> ArraySlice<UInt8> {
        let count = try integer(UInt32.self)
        return try slice(Int(count))
    }

    private mutating func slice(_ count: Int) throws(KeychainFault) -> ArraySlice<UInt8> {
        guard count >= 0, source.endIndex - position >= count else { throw .decode }
        defer { position += count }
        return source[position..<position + count]
    }

    /// Reads all remaining bytes.
    mutating func rest() -> [UInt8] {
        defer { position = source.endIndex }
        return Array(source[position...])
    }

    /// Requires that all bytes have been read.
    func finish() throws(KeychainFault) {
        guard isAtEnd else { throw .decode }
    }
}
