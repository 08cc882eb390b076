import Keychain
import SecretCrypto

/// Unlock secrets without separators, as they follow a line of the control file: kind (1 byte), size (4 bytes,
/// little-endian), bytes.
struct UnlockFrames: ~Copyable {
    private static let headCount = 5
    private(set) var bytes: SecretBytes

    init(_ first: borrowing UnlockSecret) throws(CryptoError) {
        bytes = try SecretBytes(count: Self.headCount + first.bytes.count)
        write(first, at: 0)
    }

    init(_ first: borrowing UnlockSecret, _ second: borrowing UnlockSecret) throws(CryptoError) {
        bytes = try SecretBytes(count: 2 * Self.headCount + first.bytes.count + second.bytes.count)
        write(first, at: 0)
        write(second, at: Self.headCount + first.bytes.count)
    }

    private mutating func write(_ secret: borrowing UnlockSecret, at offset: Int) {
        var output = bytes.mutableBytes
        let count = UInt32(truncatingIfNeeded: secret.bytes.count)
        let head = [secret.kind.rawValue] + (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
        _ = output.write(head.rawSpan, at: offset)
        _ = output.write(secret.bytes.bytes, at: offset + Self.headCount)
    }

    /// Reads the secret at `offset`, and advances `offset`.
    ///
    /// - Throws: `param` if there is no complete secret.
    static func read(_ source: RawSpan, at offset: inout Int) throws(KeychainFault) -> UnlockSecret {
        guard source.byteCount - offset >= headCount, let kind = SlotKind(rawValue: source.octets[offset]) else {
            throw .param
        }
        let count = (0..<4).reduce(0) { $0 | Int(source.octets[offset + 1 + $1]) << (8 * $1) }
        let start = offset + headCount
        guard source.byteCount - start >= count else { throw .param }
        let bytes = try KeychainFault.translating { () throws(CryptoError) in
            try SecretBytes(copying: source.extracting(start..<start + count))
        }
        offset = start + count
        return try UnlockSecret(kind: kind, bytes: bytes)
    }
}
