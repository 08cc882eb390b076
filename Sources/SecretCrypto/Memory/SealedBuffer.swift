import Synchronization

/// A growable value in pieces of 4 KiB, each encrypted in ordinary memory under an ephemeral key: a staged value or an
/// incoming message (contract, H1). Revoking the key makes the whole value unreadable immediately.
///
/// A missing piece, and the missing end of a short one, read as zeros, so holes use no memory. Each write of a piece
/// uses a new random nonce; the associated data contain the buffer's ID and the piece's index. A piece holds the charge
/// for its memory, so that buffers that share it are charged once.
package struct SealedBuffer: ~Copyable, Sendable {
    /// The size of a full piece in bytes of plaintext.
    package static let pieceSize = 4096
    private static let ids = Atomic<UInt64>(0)

    private struct Piece: Sendable {
        let nonceAndTag: NonceAndTag
        let ciphertext: [UInt8]
        var charge: MemoryCharge?
    }

    /// An estimate of the memory of a piece besides its ciphertext in bytes: array, charge, table entry.
    static let pieceOverhead = 256

    private var key: RevocableSecret
    private let arena: SecretArena
    private let id: UInt64
    private var pieces: [Int: Piece] = [:]
    /// The maximum size of the value in bytes.
    package let limit: Int
    /// The size of the value in bytes.
    package private(set) var count = 0

    /// Creates an empty value.
    ///
    /// - Parameter key: 32 bytes. May serve several buffers.
    package init(key: RevocableSecret, limit: Int, in arena: SecretArena = .shared) {
        self.key = key
        self.limit = limit
        self.arena = arena
        id = Self.ids.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// Returns a copy of the present value, which shares the pieces with this buffer.
    package func snapshot() -> SealedBuffer { SealedBuffer(sharing: self) }

    /// Copies may use the same buffer ID because a nonce is never used twice.
    private init(sharing other: borrowing SealedBuffer) {
        (key, limit, arena, id) = (other.key, other.limit, other.arena, other.id)
        (pieces, count) = (other.pieces, other.count)
    }

    /// Writes `bytes` at `offset` and grows the value if necessary. A gap reads as zeros. Writes all bytes or none.
    ///
    /// - Parameter share: The share to which new pieces are charged; nil if the buffer's owner limits them otherwise.
    /// - Throws: `invalidParameter` beyond `limit`, `keyUnavailable`, `outOfSecretMemory` (one slab of 4 KiB is
    ///   needed), `overBudget`.
    package mutating func write(
        _ bytes: RawSpan, at offset: Int, charging share: MemoryBudget.Share? = nil
    ) throws(CryptoError) {
        guard offset >= 0, offset <= limit, bytes.byteCount <= limit - offset else { throw .invalidParameter }
        guard !bytes.isEmpty else { return }
        let first = offset / Self.pieceSize
        var fresh: [Piece] = []
        var done = 0
        while done < bytes.byteCount {
            let place = offset + done
            let within = place % Self.pieceSize
            let part = bytes.extracting(done..<min(bytes.byteCount, done + Self.pieceSize - within))
            let index = place / Self.pieceSize
            let size = max(pieces[index]?.ciphertext.count ?? 0, within + part.byteCount)
            let charge = try charge(for: size, at: index, share)
            fresh.append(try piece(index, overwrittenBy: part, at: within, charge))
            done += part.byteCount
        }
        for (index, piece) in fresh.enumerated() { pieces[first + index] = piece }
        count = max(count, offset + bytes.byteCount)
    }

    /// Encrypts the value under another key. The charges do not change.
    ///
    /// - Throws: The errors of `write`. The value is unchanged then.
    package mutating func move(to key: RevocableSecret) throws(CryptoError) {
        var moved: [Int: Piece] = [:]
        for index in Array(pieces.keys) {
            let charge = try charge(for: pieces[index]?.ciphertext.count ?? 0, at: index, pieces[index]?.charge?.share)
            guard let old = pieces[index] else { continue }
            let plain = try plaintext(of: old, at: index)
            moved[index] = try seal(plain.bytes, at: index, charge, under: key)
        }
        (self.key, pieces) = (key, moved)
    }

    /// Returns the charge for a new piece of `count` bytes.
    ///
    /// Must be called before another reference to the old piece exists: an old piece of the same size that no snapshot
    /// shares is about to be released, so its charge is reused.
    private mutating func charge(
        for count: Int, at index: Int, _ share: MemoryBudget.Share?
    ) throws(CryptoError) -> MemoryCharge? {
        guard let share else { return nil }
        let bytes = count + Self.pieceOverhead
        guard let old = pieces.index(forKey: index), pieces.values[old].ciphertext.count >= count,
            isKnownUniquelyReferenced(&pieces.values[old].charge)
        else { return try share.reserve(bytes) }
        return share.force(bytes)
    }

    /// Reads from `offset` into the first bytes of `output`.
    ///
    /// - Returns: The number of bytes read; 0 at or after the end.
    /// - Throws: The errors of `write`, and `authenticationFailed`. `output` is zero then.
    package func read(at offset: Int, into output: inout MutableRawSpan) throws(CryptoError) -> Int {
        guard offset >= 0 else { throw .invalidParameter }
        // Required at the end of the value, too, where nothing is decrypted.
        guard key.isAvailable else { throw .keyUnavailable }
        let wanted = min(output.byteCount, count - min(count, offset))
        do {
            var done = 0
            while done < wanted {
                let index = (offset + done) / Self.pieceSize
                let within = (offset + done) % Self.pieceSize
                let end = min(wanted, done + Self.pieceSize - within)
                var part = output._mutatingExtracting(done..<end)
                try read(index, from: within, into: &part)
                done = end
            }
        } catch {
            output.clear(0..<wanted)
            throw error
        }
        return wanted
    }

    /// Truncates the value or extends it with zeros.
    ///
    /// - Throws: The errors of `write`. The value is unchanged then.
    package mutating func truncate(to count: Int) throws(CryptoError) {
        guard count >= 0, count <= limit else { throw .invalidParameter }
        if count < self.count {
            let kept = (count + Self.pieceSize - 1) / Self.pieceSize
            let within = count % Self.pieceSize
            if within > 0, pieces[kept - 1]?.ciphertext.count ?? 0 > within { try cut(kept - 1, to: within) }
            for index in pieces.keys where index >= kept { pieces[index] = nil }
        }
        self.count = count
    }

    /// Returns the new contents of a piece. Encrypts directly from `bytes` if no part of the old piece remains.
    private func piece(
        _ index: Int, overwrittenBy bytes: RawSpan, at offset: Int, _ charge: MemoryCharge?
    ) throws(CryptoError) -> Piece {
        let old = pieces[index]
        let oldCount = old?.ciphertext.count ?? 0
        if offset == 0, bytes.byteCount >= oldCount { return try seal(bytes, at: index, charge) }
        var plain = try SecretBytes(count: max(oldCount, offset + bytes.byteCount), in: arena)
        if let old {
            var target = plain.mutableBytes
            try open(old, at: index, into: &target)
        }
        plain.copy(bytes, at: offset)
        return try seal(plain.bytes, at: index, charge)
    }

    private mutating func cut(_ index: Int, to count: Int) throws(CryptoError) {
        let charge = try charge(for: count, at: index, pieces[index]?.charge?.share)
        guard let piece = pieces[index] else { return }
        var plain = try plaintext(of: piece, at: index)
        plain.truncate(to: count)
        pieces[index] = try seal(plain.bytes, at: index, charge)
    }

    private func plaintext(of piece: Piece, at index: Int) throws(CryptoError) -> SecretBytes {
        var plain = try SecretBytes(count: piece.ciphertext.count, in: arena)
        var target = plain.mutableBytes
        try open(piece, at: index, into: &target)
        return plain
    }

    /// Fills `output` with the bytes of a piece from `offset` on.
    private func read(
        _ index: Int, from offset: Int, into output: inout MutableRawSpan
    ) throws(CryptoError) {
        var done = 0
        if let piece = pieces[index], piece.ciphertext.count > offset {
            if offset == 0, piece.ciphertext.count <= output.byteCount {
                try open(piece, at: index, into: &output)
                done = piece.ciphertext.count
            } else {
                let plain = try plaintext(of: piece, at: index)
                done = output.write(plain.bytes.extracting(offset..<piece.ciphertext.count))
            }
        } else if !key.isAvailable {
            // A hole contains no secret, but after a lock no part of the value may be readable.
            throw .keyUnavailable
        }
        output.clear(done..<output.byteCount)
    }

    private func seal(
        _ bytes: RawSpan, at index: Int, _ charge: MemoryCharge?, under key: RevocableSecret? = nil
    ) throws(CryptoError) -> Piece {
        let data = associatedData(index)
        return try (key ?? self.key).use { (key) throws(CryptoError) -> Piece in
            let sealed = try AEAD.seal(bytes, key: key, associatedData: data)
            return Piece(nonceAndTag: sealed.nonceAndTag, ciphertext: sealed.ciphertext, charge: charge)
        }
    }

    private func open(_ piece: Piece, at index: Int, into output: inout MutableRawSpan) throws(CryptoError) {
        let data = associatedData(index)
        try key.use { (key) throws(CryptoError) -> Void in
            try AEAD.open(
                piece.ciphertext.rawSpan, nonceAndTag: piece.nonceAndTag.bytes.rawSpan, key: key, associatedData: data,
                into: &output)
        }
    }

    private func associatedData(_ index: Int) -> [UInt8] {
        [id, UInt64(index)].flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
    }
}
