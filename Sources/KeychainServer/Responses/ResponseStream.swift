package import Keychain
import KeychainRPC
package import SecretCrypto

/// The bytes of a response, created as they are read.
///
/// A value type. It contains the query, sealed rows, and the names of a frame that has not been read completely. An
/// owner that keeps it beyond a lock replaces it with `ResponseStream(failure: .interactionNotAllowed)`.
package struct ResponseStream: Sendable {
    private var frames: ResponseFrames
    /// The remaining bytes of the current frame.
    private var pieces: FrameChunks?

    init(_ frames: ResponseFrames) { self.frames = frames }

    /// Creates a response of one frame without a result. Its status is `failure`, or errSecSuccess for nil.
    package init(failure: SecurityStatus?) { self.init(ResponseFrames(failure)) }

    /// Whether the last byte has been returned.
    package var hasEnded: Bool { frames.hasEnded && pieces == nil }

    /// The approximate memory use of the current frame, in bytes.
    package var heldBytes: Int { pieces?.heldBytes ?? 0 }

    /// Returns the next bytes, at most 64 KiB, or nil at the end.
    ///
    /// The last frame reports a failure. An error is thrown only inside a frame whose length has been sent already.
    ///
    /// - Throws: `allocate`, after which the call can be repeated. Otherwise once, and the bytes returned before are
    ///   invalid: `interactionNotAllowed` after a lock, `decode` for a damaged secret.
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
            // No byte of this frame has been returned: another frame replaces it and reports the failure.
            var failure = try Self.pieces(of: frames.end(with: error))
            return try failure.next(in: arena)
        }
    }

    /// Returns the remaining bytes of the current frame, or those of the next one.
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
