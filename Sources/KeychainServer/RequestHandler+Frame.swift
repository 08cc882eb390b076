package import Keychain
import KeychainRPC
package import SecretCrypto

extension RequestHandler {
    /// The number of bytes of a property list that are in locked memory at the same time.
    private static let step = 64 << 10

    /// Carries out the request of a complete, sealed frame. Its secret is opened chunk by chunk while it is sealed for
    /// the store.
    ///
    /// - Parameter willWait: Called before a commit, and before a search that takes longer than a few lookups.
    /// - Throws: Before any effect: `interactionNotAllowed` if the frame's key has been revoked, `allocate`. The
    ///   response reports all other errors.
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
