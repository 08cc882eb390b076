/// An immutable copy of a sealed buffer's bytes from an offset to the end. Opened with the buffer's key.
package struct SealedBufferSuffix: ~Copyable, Sendable {
    private let buffer: SealedBuffer
    private let start: Int

    fileprivate init(of buffer: consuming SealedBuffer, from start: Int) {
        self.buffer = buffer
        self.start = start
    }

    /// The number of bytes.
    package var count: Int { buffer.count - start }

    /// Reads from `offset` into the first bytes of `output`.
    ///
    /// - Returns: The number of bytes read; 0 at or after the end.
    /// - Throws: The errors of ``SealedBuffer/read(at:into:)``.
    package func read(at offset: Int, into output: inout MutableRawSpan) throws(CryptoError) -> Int {
        guard offset >= 0, offset <= count else { throw .invalidParameter }
        return try buffer.read(at: start + offset, into: &output)
    }
}

extension SealedBuffer {
    /// Returns the bytes from `start` on. Later writes to the buffer do not change them.
    ///
    /// - Throws: `invalidParameter` if `start` is beyond the end.
    package func suffix(from start: Int) throws(CryptoError) -> SealedBufferSuffix {
        guard start >= 0, start <= count else { throw .invalidParameter }
        return SealedBufferSuffix(of: snapshot(), from: start)
    }
}
