package import SecretCrypto

/// A request as bytes: header, list, and the secret that `.secret(0)` in the list stands for.
package enum RequestFrame {
    /// What a request may have beside the longest value.
    private static let overhead = 128 << 10

    /// The most bytes that a frame may have where values may have `valueLimit`.
    package static func limit(valueLimit: Int) -> Int { valueLimit + overhead }

    /// Header and list of a request. The bytes of its secret follow, `secretCount` of them.
    ///
    /// - Throws: `malformed` for values too deep, `tooLong`.
    package static func head(of request: ItemRequest, secretCount: Int) throws(FrameError) -> [UInt8] {
        try FrameHeader.head(of: request.list, secretCount: secretCount)
    }

    /// A whole frame.
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

    /// How many bytes a frame has that begins with `prefix`; nil while its header is not whole.
    ///
    /// - Throws: `tooLong` beyond `limit`, `malformed` as soon as the bytes are no header.
    package static func count(prefix: RawSpan, limit: Int) throws(FrameError) -> Int? {
        guard let header = try FrameHeader.first(of: prefix) else { return nil }
        guard header.frameCount <= limit else { throw .tooLong }
        return header.frameCount
    }
}
