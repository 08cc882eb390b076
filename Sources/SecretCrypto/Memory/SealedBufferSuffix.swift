/// What a sealed buffer holds from some byte on, as it was when this was made; opened by the buffer's key.
package struct SealedBufferSuffix: ~Copyable, Sendable {
    private let buffer: SealedBuffer
    private let start: Int

    fileprivate init(of buffer: consuming SealedBuffer, from start: Int) {
        self.buffer = buffer
        self.start = start
    }

    /// Bytes from there to the end.
    package var count: Int { buffer.count - start }

    /// Reads from `offset` into the first bytes of `output`; returns how many, 0 from the end on.
    ///
    /// - Throws: as ``SealedBuffer/read(at:into:)``.
    package func read(at offset: Int, into output: inout MutableRawSpan) throws(CryptoError) -> Int {
        guard offset >= 0, offset <= count else { throw .invalidParameter }
        return try buffer.read(at: start + offset, into: &output)
    }
}

extension SealedBuffer {
    /// The bytes from `start` on, which no later write to the buffer changes. `invalidParameter` beyond the end.
    package func suffix(from start: Int) throws(CryptoError) -> SealedBufferSuffix {
        guard start >= 0, start <= count else { throw .invalidParameter }
        return SealedBufferSuffix(of: snapshot(), from: start)
    }
}
