import SecretCrypto

/// The first 16 bytes of a frame: magic and version, then how long its two parts are. Numbers are big-endian, as those of
/// the list that follows.
package struct FrameHeader: Hashable, Sendable {
    /// `KCF` and the version, 1.
    package static let magic: [UInt8] = Array("KCF".utf8) + [1]
    package static let byteCount = 16

    /// Bytes of the property list.
    package let listCount: Int
    /// Bytes of the secrets behind it.
    package let secretCount: Int

    /// `tooLong` for what no header can say.
    package init(listCount: Int, secretCount: Int) throws(FrameError) {
        let (sum, overflow) = listCount.addingReportingOverflow(secretCount)
        guard UInt32(exactly: listCount) != nil, secretCount >= 0, !overflow, sum <= Int.max - Self.byteCount else {
            throw .tooLong
        }
        self.listCount = listCount
        self.secretCount = secretCount
    }

    /// The header that a frame begins with, of whose bytes as many as there are now are looked at.
    ///
    /// - Returns: nil while it is not whole.
    /// - Throws: `malformed` as soon as magic or version are others, `tooLong`.
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

    /// Bytes of the whole frame.
    package var frameCount: Int { Self.byteCount + listCount + secretCount }

    package var bytes: [UInt8] {
        var bytes = Self.magic
        bytes.append(bigEndian: UInt64(listCount), width: 4)
        bytes.append(bigEndian: UInt64(secretCount), width: 8)
        return bytes
    }

    /// What a frame begins with, up to its secrets: the header and the list.
    static func head(of list: PropertyList, secretCount: Int) throws(FrameError) -> [UInt8] {
        let bytes = try list.binary()
        return try FrameHeader(listCount: bytes.count, secretCount: secretCount).bytes + bytes
    }
}
