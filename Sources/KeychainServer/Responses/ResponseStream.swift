package import Keychain
import KeychainRPC
package import SecretCrypto

/// The bytes of an answer, made as they are read.
///
/// A plain value. Holds the query and sealed rows, and the names of a frame that has not been read to its end: whoever
/// keeps one over a lock drops it then, and goes on with `ResponseStream(failure: .interactionNotAllowed)`.
package struct ResponseStream: Sendable {
    private var frames: ResponseFrames
    /// Of the frame that is being handed out.
    private var pieces: FrameChunks?

    init(_ frames: ResponseFrames) { self.frames = frames }

    /// An answer of one frame without a result: the status, errSecSuccess for nil.
    package init(failure: SecurityStatus?) { self.init(ResponseFrames(failure)) }

    /// Whether the last byte has been handed out.
    package var hasEnded: Bool { frames.hasEnded && pieces == nil }

    /// About how much memory the frame takes that is being handed out, in bytes.
    package var heldBytes: Int { pieces?.heldBytes ?? 0 }

    /// The next bytes, at most 64 KiB; nil at the end.
    ///
    /// A failure is told by the last frame. It is thrown only where a frame has been begun whose length is told already.
    ///
    /// - Throws: `allocate`, after which it may be asked again. Else once, and what was handed out is void:
    ///   `interactionNotAllowed` after a lock, `decode` for a damaged secret.
    package mutating func next(in arena: SecretArena = .shared) throws(SecurityStatus) -> SecretBytes? {
        guard let taken = try takePieces() else { return nil }
        var current = taken
        do throws(SecurityStatus) {
            let piece = try current.next(in: arena)
            if !current.isEmpty { pieces = current }
            return piece
        } catch .allocate {
            pieces = taken
            throw .allocate
        } catch {
            guard current.isUntouched else {
                _ = frames.end(with: error)
                throw error
            }
            // Nobody has seen the beginning of this frame: another one says why.
            var failure = try Self.pieces(of: frames.end(with: error))
            return try failure.next(in: arena)
        }
    }

    /// What is left of the frame that is being handed out, else the next frame.
    private mutating func takePieces() throws(SecurityStatus) -> FrameChunks? {
        if let pieces {
            self.pieces = nil
            return pieces
        }
        guard let frame = frames.next() else { return nil }
        return try Self.pieces(of: frame)
    }

    private static func pieces(of frame: OutgoingFrame) throws(SecurityStatus) -> FrameChunks {
        do throws(FrameError) { return try FrameChunks(frame) } catch { throw .internalError }
    }
}
