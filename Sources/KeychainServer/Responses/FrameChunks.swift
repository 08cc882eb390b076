import Keychain
import KeychainRPC
import SecretCrypto

/// The bytes of one frame, chunk by chunk. Secrets are opened directly into the requested chunk.
///
/// A chunk ends before a chunk of a secret that does not fit, so that each of those is opened once.
struct FrameChunks: Sendable {
    /// The maximum size of a chunk in bytes; also that of a secret's chunk.
    static let size = 64 << 10

    private enum Part: Sendable {
        case head(Range<Int>)
        case secret(SealedSecret, Range<Int>)

        var count: Int {
            switch self {
            case .head(let range), .secret(_, let range): range.count
            }
        }
    }

    /// The approximate memory use in bytes: head and secrets.
    let heldBytes: Int
    private let head: [UInt8]
    private var parts: ArraySlice<Part>
    /// Whether no byte has been returned yet.
    private(set) var isUntouched = true

    init(_ frame: OutgoingFrame) throws(FrameError) {
        head = try frame.head()
        var parts = Self.cuts(head.count).map { Part.head($0) }
        for secret in frame.secrets { parts += Self.cuts(secret.count).map { .secret(secret, $0) } }
        self.parts = parts[...]
        heldBytes = frame.secrets.reduce(head.count) { $0 + $1.count }
    }

    var isEmpty: Bool { parts.isEmpty }

    /// Returns the next bytes, or nil at the end.
    ///
    /// - Throws: `interactionNotAllowed` after the secret's key was revoked, `decode` for a damaged secret, `allocate`.
    mutating func next(in arena: SecretArena) throws(SecurityStatus) -> SecretBytes? {
        guard !parts.isEmpty else { return nil }
        do throws(KeychainFault) {
            let piece = try piece(of: takeParts(), in: arena)
            isUntouched = false
            return piece
        } catch {
            throw SecurityStatus(error)
        }
    }

    private static func cuts(_ count: Int) -> [Range<Int>] {
        stride(from: 0, to: count, by: size).map { $0..<min(count, $0 + size) }
    }

    private mutating func takeParts() -> [Part] {
        var taken: [Part] = []
        var count = 0
        while let part = parts.first, count + part.count <= Self.size {
            count += part.count
            taken.append(part)
            parts.removeFirst()
        }
        return taken
    }

    private func piece(of parts: [Part], in arena: SecretArena) throws(KeychainFault) -> SecretBytes {
        let count = parts.reduce(0) { $0 + $1.count }
        var piece = try KeychainFault.translating { () throws(CryptoError) in try SecretBytes(count: count, in: arena) }
        var output = piece.mutableBytes
        var start = 0
        for part in parts {
            var destination = output._mutatingExtracting(start..<start + part.count)
            try fill(&destination, with: part)
            start += part.count
        }
        return piece
    }

    private func fill(_ destination: inout MutableRawSpan, with part: Part) throws(KeychainFault) {
        switch part {
        case .head(let range): _ = destination.write(head.rawSpan.extracting(range))
        case .secret(let secret, let range):
            guard try secret.read(at: range.lowerBound, into: &destination) == range.count else { throw .decode }
        }
    }
}
