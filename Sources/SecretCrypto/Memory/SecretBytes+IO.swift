import Glibc

extension SecretBytes {
    /// Reads to the end of file, directly into the arena (read(2)). Retries after EINTR.
    ///
    /// - Parameter limit: The maximum number of bytes.
    /// - Throws: `invalidParameter` if there are more than `limit` bytes; `io` with the errno of read(2).
    package static func read(
        from descriptor: Int32, limit: Int, in arena: SecretArena = .shared
    ) throws(CryptoError) -> SecretBytes {
        guard limit >= 0, limit < Int.max else { throw .invalidParameter }
        // One byte more than `limit`, to detect the end of file.
        var buffer = try SecretBytes(count: min(limit + 1, SlabAllocator.blockSize), in: arena)
        var filled = 0
        while true {
            let got = try buffer.fill(from: descriptor, at: filled)
            if got == 0 { break }
            filled += got
            guard filled <= limit else { throw .invalidParameter }
            if filled == buffer.count { buffer = try buffer.enlarged(to: nextCount(buffer.count, limit: limit)) }
        }
        buffer.truncate(to: filled)
        return buffer
    }

    /// Doubles the size. The last steps are one step, because the arena contains the old and the new buffer.
    private static func nextCount(_ count: Int, limit: Int) -> Int {
        4 * count > limit ? limit + 1 : 2 * count
    }

    /// Calls read(2) once for at most `limit` bytes, directly into the arena. Retries after EINTR.
    ///
    /// - Returns: The bytes read; empty at the end of file.
    /// - Throws: `io` with the errno of read(2).
    package static func readChunk(
        from descriptor: Int32, limit: Int, in arena: SecretArena = .shared
    ) throws(CryptoError) -> SecretBytes {
        var buffer = try SecretBytes(count: limit, in: arena)
        buffer.truncate(to: try buffer.fill(from: descriptor, at: 0))
        return buffer
    }

    /// Writes all bytes, with as many calls of write(2) as necessary.
    ///
    /// - Throws: `io` with the errno of write(2). A part of the bytes may have been written then.
    package func write(to descriptor: Int32) throws(CryptoError) {
        var done = 0
        while done < count {
            let written = unsafe withPointer { unsafe Glibc.write(descriptor, $0 + done, count - done) }
            guard written >= 0 || errno == EINTR else { throw .io(errno) }
            done += max(0, written)
        }
    }

    /// Calls read(2) once for the bytes from `offset` on. Returns the number of bytes read, 0 at the end of file.
    mutating func fill(from descriptor: Int32, at offset: Int) throws(CryptoError) -> Int {
        while true {
            let freeBytes = count - offset
            let got = unsafe withMutablePointer { unsafe Glibc.read(descriptor, $0 + offset, freeBytes) }
            if got >= 0 { return got }
            guard errno == EINTR else { throw .io(errno) }
        }
    }

    private func enlarged(to count: Int) throws(CryptoError) -> SecretBytes {
        var larger = try SecretBytes(count: count, in: home)
        larger.copy(bytes, at: 0)
        return larger
    }
}
