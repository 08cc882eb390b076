import Glibc

extension SecretBytes {
    /// Everything up to the end of file, straight into the arena (read(2)).
    ///
    /// - Parameter limit: the most that is taken; more: `invalidParameter`.
    /// - Throws: `io` with the errno of read; an interrupted one is repeated.
    package static func read(
        from descriptor: Int32, limit: Int, in arena: SecretArena = .shared
    ) throws(CryptoError) -> SecretBytes {
        guard limit >= 0, limit < Int.max else { throw .invalidParameter }
        // One byte more than may come, so that the end of file is seen.
        var buffer = try SecretBytes(count: min(limit + 1, SlabAllocator.blockSize), in: arena)
        var filled = 0
        while true {
            let got = try buffer.fill(from: descriptor, at: filled)
            if got == 0 { break }
            filled += got
            guard filled <= limit else { throw .invalidParameter }
            if filled == buffer.count { buffer = try buffer.enlarged(to: min(limit + 1, 2 * buffer.count)) }
        }
        buffer.truncate(to: filled)
        return buffer
    }

    /// What one read(2) gives of at most `limit` bytes, straight into the arena; empty at the end of file.
    ///
    /// - Throws: `io` with the errno of read; an interrupted one is repeated.
    package static func readChunk(
        from descriptor: Int32, limit: Int, in arena: SecretArena = .shared
    ) throws(CryptoError) -> SecretBytes {
        var buffer = try SecretBytes(count: limit, in: arena)
        buffer.truncate(to: try buffer.fill(from: descriptor, at: 0))
        return buffer
    }

    /// All bytes, in as many writes as it takes (write(2)). `io` with its errno; the bytes before are then written.
    package func write(to descriptor: Int32) throws(CryptoError) {
        var done = 0
        while done < count {
            let written = unsafe withPointer { unsafe Glibc.write(descriptor, $0 + done, count - done) }
            guard written >= 0 || errno == EINTR else { throw .io(errno) }
            done += max(0, written)
        }
    }

    /// One read(2) into what follows `offset`; the number of bytes, 0 at the end of file.
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
