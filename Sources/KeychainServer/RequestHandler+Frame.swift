package import Keychain
import KeychainRPC
package import SecretCrypto

extension RequestHandler {
    /// Bytes of a list that are in locked memory at a time.
    private static let step = 64 << 10

    /// Carries out the request of a whole frame that is kept sealed; its secret is opened chunk by chunk, where it is sealed
    /// for the store.
    ///
    /// - Parameter willWait: called before a commit, and for a search whose answer takes longer than some look-ups.
    /// - Throws: before anything has been done: `interactionNotAllowed` if the frame's key is gone, `allocate`. All else is
    ///   told in the answer.
    package func handle(
        frame: borrowing SealedBuffer, by owner: FileOwner, willWait: () -> Void = {}
    ) throws(KeychainFault) -> HandledRequest {
        let bytes = try Self.bytes(of: frame, 0..<min(frame.count, FrameHeader.byteCount))
        guard let header = try? FrameHeader.first(of: bytes.rawSpan), header.frameCount == frame.count else {
            return HandledRequest(failure: .param)
        }
        let end = FrameHeader.byteCount + header.listCount
        let list = try Self.bytes(of: frame, FrameHeader.byteCount..<end)
        let secret = try KeychainFault.translating { () throws(CryptoError) in try frame.suffix(from: end) }
        return handle(list: list, secret: secret, by: owner, willWait: willWait)
    }

    private static func bytes(
        of frame: borrowing SealedBuffer, _ range: Range<Int>
    ) throws(KeychainFault) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        while bytes.count < range.count {
            let count = min(step, range.count - bytes.count)
            var slab = try KeychainFault.translating { () throws(CryptoError) in try SecretBytes(count: count) }
            var output = slab.mutableBytes
            guard try frame.readSecret(at: range.lowerBound + bytes.count, into: &output) == count else {
                throw .decode
            }
            bytes += [UInt8](copying: slab.bytes)
        }
        return bytes
    }
}
