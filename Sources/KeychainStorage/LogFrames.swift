/// The frames of a write-ahead log, accepted under the same conditions as by SQLite (walDecodeFrame in wal.c): the
/// salts are those of the log's header, and the frame contains the running checksum up to and including this frame.
struct LogFrames {
    struct Frame {
        /// The number of the page, from 1.
        let page: Int
        /// Whether the frame ends a transaction.
        let isCommit: Bool
        let contents: [UInt8]
    }

    static let headerSize = 32
    static let frameHeaderSize = 24

    static let supportedVersion: UInt32 = 3_007_000

    let version: UInt32
    let pageSize: Int
    private let salts: ArraySlice<UInt8>
    private var checksum: LogChecksum

    /// - Parameter header: The first 32 bytes of the log.
    /// - Returns: Nil if SQLite ignores a log with this header.
    init?(header: [UInt8]) {
        guard header.count == Self.headerSize else { return nil }
        let magic = header.bigEndian(at: 0)
        guard magic & ~1 == 0x377F_0682 else { return nil }
        version = header.bigEndian(at: 4)
        pageSize = Int(header.bigEndian(at: 8))
        guard pageSize >= 512, pageSize <= 65536, pageSize.nonzeroBitCount == 1 else { return nil }
        salts = header[16..<24]
        checksum = LogChecksum(isBigEndian: magic & 1 == 1)
        checksum.add(header[..<24])
        guard checksum.equals(header[24..<32]) else { return nil }
    }

    /// Decodes the next frame.
    ///
    /// - Parameter bytes: The bytes of the frame that follows the previous one.
    /// - Returns: The frame; nil at the end of the log, when the bytes do not continue it.
    mutating func next(_ bytes: [UInt8]) -> Frame? {
        guard bytes.count == Self.frameHeaderSize + pageSize else { return nil }
        let page = bytes.bigEndian(at: 0)
        guard page > 0, bytes[8..<16] == salts else { return nil }
        checksum.add(bytes[..<8])
        checksum.add(bytes[Self.frameHeaderSize...])
        guard checksum.equals(bytes[16..<24]) else { return nil }
        return Frame(
            page: Int(page), isCommit: bytes.bigEndian(at: 4) != 0, contents: Array(bytes[Self.frameHeaderSize...]))
    }
}

/// The checksum of <https://www.sqlite.org/fileformat2.html#checksum_algorithm>.
private struct LogChecksum {
    private let isBigEndian: Bool
    private var first: UInt32 = 0
    private var second: UInt32 = 0

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    /// Adds bytes, whose number is a multiple of 8. A debug build does not specialize ranges and slices, so this loop
    /// uses indices.
    mutating func add(_ bytes: ArraySlice<UInt8>) {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            first = first &+ word(bytes, index) &+ second
            second = second &+ word(bytes, index + 4) &+ first
            index += 8
        }
    }

    /// Whether the eight bytes contain this checksum.
    func equals(_ bytes: ArraySlice<UInt8>) -> Bool {
        let bytes = Array(bytes)
        return bytes.bigEndian(at: 0) == first && bytes.bigEndian(at: 4) == second
    }

    private func word(_ bytes: ArraySlice<UInt8>, _ index: Int) -> UInt32 {
        let (a, b) = (UInt32(bytes[index]), UInt32(bytes[index + 1]))
        let (c, d) = (UInt32(bytes[index + 2]), UInt32(bytes[index + 3]))
        return isBigEndian ? a << 24 | b << 16 | c << 8 | d : d << 24 | c << 16 | b << 8 | a
    }
}

extension [UInt8] {
    fileprivate func bigEndian(at offset: Int) -> UInt32 {
        UInt32(self[offset]) << 24 | UInt32(self[offset + 1]) << 16 | UInt32(self[offset + 2]) << 8
            | UInt32(self[offset + 3])
    }
}
