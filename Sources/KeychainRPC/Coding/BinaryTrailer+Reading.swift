extension BinaryTrailer {
    /// Reads the trailer of a complete list. The offset table must fill the space between the objects and the trailer.
    init(of bytes: [UInt8]) throws(FrameError) {
        guard bytes.count > Self.magic.count + Self.byteCount, bytes.starts(with: Self.magic) else { throw .malformed }
        let start = bytes.count - Self.byteCount
        // Five unused bytes and the sort version.
        guard bytes[start..<start + 6].allSatisfy({ $0 == 0 }) else { throw .malformed }
        offsetWidth = Int(bytes[start + 6])
        referenceWidth = Int(bytes[start + 7])
        objectCount = try bytes.position(at: start + 8, width: 8)
        top = try bytes.position(at: start + 16, width: 8)
        tableOffset = try bytes.position(at: start + 24, width: 8)
        guard (1...8).contains(offsetWidth), (1...8).contains(referenceWidth), top < objectCount,
            tableOffset > Self.magic.count, tableOffset < start
        else { throw .malformed }
        let (tableCount, overflow) = objectCount.multipliedReportingOverflow(by: offsetWidth)
        guard !overflow, tableCount == start - tableOffset else { throw .malformed }
    }
}

extension [UInt8] {
    /// Returns the big-endian number of `width` bytes, at most 8, at `offset`; nil beyond the end.
    func bigEndian(at offset: Int, width: Int) -> UInt64? {
        guard offset >= 0, width <= 8, offset <= count - width else { return nil }
        return self[offset..<offset + width].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Returns the big-endian number of `width` bytes at `offset`, which must fit into an `Int`.
    func position(at offset: Int, width: Int) throws(FrameError) -> Int {
        guard let number = bigEndian(at: offset, width: width), let position = Int(exactly: number) else {
            throw .malformed
        }
        return position
    }

    mutating func append(bigEndian number: UInt64, width: Int) {
        for index in (0..<width).reversed() { append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(index)))) }
    }
}
