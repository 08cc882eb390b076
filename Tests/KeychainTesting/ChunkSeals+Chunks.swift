package import Keychain

extension ChunkSeals {
    /// The seals of the single chunks. Bytes that cannot be seals leave the value unchanged.
    package var chunks: [[UInt8]] {
        get {
            stride(from: 0, to: bytes.count, by: Self.sealCount).map { Array(bytes[$0..<$0 + Self.sealCount]) }
        }
        set { self = ChunkSeals(bytes: newValue.flatMap { $0 }) ?? self }
    }

    /// Seals with recognizable bytes, which belong to no ciphertext.
    package static func sample(count: Int) -> ChunkSeals {
        var seals = ChunkSeals()
        seals.chunks = (0..<count).map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: sealCount) }
        return seals
    }
}
