/// Reads one object of a `bplist00` sequentially.
struct BinaryObjectReader {
    /// The bytes that have not been read, to the end of all objects.
    private var rest: ArraySlice<UInt8>

    init(bytes: ArraySlice<UInt8>) { rest = bytes }

    var bytesLeft: Int { rest.count }

    mutating func byte() throws(FrameError) -> UInt8 {
        guard let byte = rest.popFirst() else { throw .malformed }
        return byte
    }

    mutating func bytes(_ count: Int) throws(FrameError) -> [UInt8] {
        guard count >= 0, count <= rest.count else { throw .malformed }
        defer { rest.removeFirst(count) }
        return Array(rest.prefix(count))
    }

    /// Returns the number of units of an object: the lower bits of its marker, or an integer after it.
    mutating func count(_ low: UInt8) throws(FrameError) -> Int {
        guard low == BinaryMarker.countFollows else { return Int(low) }
        let marker = try byte()
        guard marker & BinaryMarker.kind == BinaryMarker.integer else { throw .malformed }
        let number = try integer(logarithm: marker & BinaryMarker.low)
        guard number >= 0, let count = Int(exactly: number) else { throw .malformed }
        return count
    }

    /// Reads an integer. 1, 2 and 4 bytes are unsigned, 8 signed; 16 are accepted if 8 would suffice.
    mutating func integer(logarithm: UInt8) throws(FrameError) -> Int64 {
        guard logarithm <= 4 else { throw .malformed }
        guard logarithm == 4 else { return Int64(bitPattern: try number(width: 1 << Int(logarithm))) }
        let high = try number(width: 8)
        let low = Int64(bitPattern: try number(width: 8))
        guard high == (low < 0 ? .max : 0) else { throw .malformed }
        return low
    }

    mutating func real(logarithm: UInt8) throws(FrameError) -> Double {
        switch logarithm {
        case 2: Double(Float(bitPattern: UInt32(truncatingIfNeeded: try number(width: 4))))
        case 3: Double(bitPattern: try number(width: 8))
        default: throw .malformed
        }
    }

    /// Reads an unsigned number that fits into an `Int`.
    mutating func position(width: Int) throws(FrameError) -> Int {
        guard let position = Int(exactly: try number(width: width)) else { throw .malformed }
        return position
    }

    private mutating func number(width: Int) throws(FrameError) -> UInt64 {
        guard width <= 8, width <= rest.count else { throw .malformed }
        defer { rest.removeFirst(width) }
        return rest.prefix(width).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
