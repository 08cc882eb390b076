import SecretCrypto

/// The first 16 bytes of a frame: magic and version, then the sizes of its two parts. Numbers are big-endian, as in the
/// list that follows.
package struct FrameHeader: Hashable, Sendable {
    /// `KCF` and the version, 1.
    package static let magic: [UInt8] = Array("KCF".utf8) + [1]
    package static let byteCount = 16

    /// The size of the property list in bytes.
    package let listCount: Int
    /// The size of the secrets after the list in bytes.
    package let secretCount: Int

    /// - Throws: `tooLong` for sizes that do not fit into the header.
    package init(listCount: Int, secretCount: Int) throws(FrameError) {
        let (sum, overflow) = listCount.addingReportingOverflow(secretCount)
        guard UInt32(exactly: listCount) != nil, secretCount >= 0, !overflow, sum <= Int.max - Self.byteCount else {
            throw .tooLong
        }
        self.listCount = listCount
        self.secretCount = secretCount
    }

    /// Reads the header at the start of a frame, of which all or a part has arrived.
    ///
    /// - Returns: The header; nil while it is incomplete.
    /// - Throws: `malformed` as soon as magic or version differ; `tooLong`.
    package static func first(of frame: RawSpan) throws(FrameError) -> FrameHeader? {
        let present = [UInt8](copying: frame.extracting(0..<min(frame.byteCount, byteCount)))
        guard present.starts(with: magic.prefix(present.count)) else { throw .malformed }
        guard let listCount = present.bigEndian(at: 4, width: 4), let secretCount = present.bigEndian(at: 8, width: 8)
        else { return nil }
        guard let listCount = Int(exactly: listCount), let secretCount = Int(exactly: secretCount) else {
            throw .tooLong
        }
        return try FrameHeader(listCount: listCount, secretCount: secretCount)
    }

    /// The size of the complete frame in bytes.
    package var frameCount: Int { Self.byteCount + listCount + secretCount }

    package var bytes: [UInt8] {
        var bytes = Self.magic
        bytes.append(bigEndian: UInt64(listCount), width: 4)
        bytes.append(bigEndian: UInt64(secretCount), width: 8)
        return bytes
    }

    /// Returns the start of a frame before its secrets: the header and the list.
    static func head(of list: PropertyList, secretCount: Int) throws(FrameError) -> [UInt8] {
        let bytes = try list.binary()
        return try FrameHeader(listCount: bytes.count, secretCount: secretCount).bytes + bytes
    }
}
