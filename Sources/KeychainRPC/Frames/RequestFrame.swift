package import SecretCrypto

/// A request as bytes: header, list, and the secret to which `.secret(0)` in the list refers.
package enum RequestFrame {
    /// The maximum size of a request in bytes besides a value of maximum size.
    private static let overhead = 128 << 10

    /// Returns the maximum size of a frame in bytes if values may have `valueLimit` bytes.
    package static func limit(valueLimit: Int) -> Int { valueLimit + overhead }

    /// Returns the header and list of a request. The `secretCount` bytes of its secret follow.
    ///
    /// - Throws: `malformed` for values that are too deep; `tooLong`.
    package static func head(of request: ItemRequest, secretCount: Int) throws(FrameError) -> [UInt8] {
        try FrameHeader.head(of: request.list, secretCount: secretCount)
    }

    /// Returns a complete frame.
    package static func bytes(
        of request: ItemRequest, secret: borrowing SecretBytes
    ) throws(FrameError) -> SecretBytes {
        let head = try head(of: request, secretCount: secret.count)
        do throws(CryptoError) {
            var frame = try SecretBytes(count: head.count + secret.count)
            var bytes = frame.mutableBytes
            _ = bytes.write(head.rawSpan)
            _ = bytes.write(secret.bytes, at: head.count)
            return frame
        } catch {
            throw .outOfSecretMemory
        }
    }

    /// Returns the size of the frame that begins with `prefix`; nil while the header is incomplete.
    ///
    /// - Throws: `tooLong` beyond `limit`; `malformed` as soon as the bytes are not a header.
    package static func count(prefix: RawSpan, limit: Int) throws(FrameError) -> Int? {
        guard let header = try FrameHeader.first(of: prefix) else { return nil }
        guard header.frameCount <= limit else { throw .tooLong }
        return header.frameCount
    }
}
