import Synchronization

/// A growable value kept in 4 KiB pieces, each encrypted in ordinary memory under an ephemeral key: a staged value
/// or a message under way (contract H1). Revoking the key makes all of it unreadable at once.
///
/// A piece that is shorter than its place, or missing, reads as zeros to its end: holes cost nothing. Each write of a
/// piece takes a fresh random nonce; its buffer and its place are bound to it. A piece carries the charge for its memory,
/// so that buffers which share it are charged once, and as long as one of them exists.
package struct SealedBuffer: ~Copyable, Sendable {
    /// Plain bytes of a whole piece.
    package static let pieceSize = 4096
    private static let ids = Atomic<UInt64>(0)

    private struct Piece: Sendable {
        let nonceAndTag: NonceAndTag
        let ciphertext: [UInt8]
        var charge: MemoryCharge?
    }

    /// What a piece takes besides its ciphertext, about: array, charge, place in the table.
    static let pieceOverhead = 256

    private var key: RevocableSecret
    private let arena: SecretArena
    private let id: UInt64
    private var pieces: [Int: Piece] = [:]
    /// The most bytes it can have.
    package let limit: Int
    /// Bytes of the value.
    package private(set) var count = 0

    /// An empty value. `key` holds 32 bytes and may serve many buffers.
    package init(key: RevocableSecret, limit: Int, in arena: SecretArena = .shared) {
        self.key = key
        self.limit = limit
        self.arena = arena
        id = Self.ids.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// The value as it is now, in a buffer of its own that shares the pieces.
    package func snapshot() -> SealedBuffer { SealedBuffer(sharing: self) }

    /// Nonces are never used twice, so that both may bind the same id.
    private init(sharing other: borrowing SealedBuffer) {
        (key, limit, arena, id) = (other.key, other.limit, other.arena, other.id)
        (pieces, count) = (other.pieces, other.count)
    }

    /// Writes `bytes` at `offset`, growing the value; what lies between reads as zeros. All or nothing.
    ///
    /// - Parameter share: what new pieces are charged to; nil if the owner of the buffer bounds it otherwise.
    /// - Throws: `invalidParameter` beyond `limit`, `keyUnavailable`, `outOfSecretMemory` (needs one slab of 4 KiB),
    ///   `overBudget`.
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

    /// Encrypts the value under another key. The pieces are charged to whom they were charged before.
    ///
    /// - Throws: as `write`; the value is then as it was.
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

    /// What is charged for a piece of `count` bytes, asked for before anything else refers to the one in its place. One
    /// that is as long, and that no snapshot shares, leaves its room: it is about to be released.
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

    /// Reads from `offset` into the first bytes of `output`; returns how many, 0 from the end on.
    ///
    /// - Throws: as `write`, and `authenticationFailed`; `output` is then zero.
    package func read(at offset: Int, into output: inout MutableRawSpan) throws(CryptoError) -> Int {
        guard offset >= 0 else { throw .invalidParameter }
        // Also at the end, where there is nothing to decrypt.
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

    /// Cuts the value or lengthens it by zeros.
    ///
    /// - Throws: as `write`; the value is then as it was.
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

    /// What the piece becomes; seals straight from `bytes` where nothing of the old one stays.
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
            // A hole is no secret, but after a lock nothing of the value answers.
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
                piece.ciphertext.rawSpan, nonceAndTag: piece.nonceAndTag, key: key, associatedData: data, into: &output)
        }
    }

    private func associatedData(_ index: Int) -> [UInt8] {
        [id, UInt64(index)].flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
    }
}
