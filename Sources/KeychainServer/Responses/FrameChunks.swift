import Keychain
import KeychainRPC
import SecretCrypto

/// The bytes of one frame, piece by piece: secrets are opened into the piece that is asked for, and nowhere else.
///
/// A piece ends before a chunk of a secret that it has no room for: each chunk is opened once.
struct FrameChunks: Sendable {
    /// The most bytes of a piece; a secret's chunk has no more.
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

    /// About how much memory it takes, in bytes: head and secrets.
    let heldBytes: Int
    private let head: [UInt8]
    private var parts: ArraySlice<Part>
    /// Whether nothing has been handed out yet.
    private(set) var isUntouched = true

    init(_ frame: OutgoingFrame) throws(FrameError) {
        head = try frame.head()
        var parts = Self.cuts(head.count).map { Part.head($0) }
        for secret in frame.secrets { parts += Self.cuts(secret.count).map { .secret(secret, $0) } }
        self.parts = parts[...]
        heldBytes = frame.secrets.reduce(head.count) { $0 + $1.count }
    }

    var isEmpty: Bool { parts.isEmpty }

    /// The next bytes; nil at the end.
    ///
    /// - Throws: `interactionNotAllowed` for a secret that has been locked, `decode` for a damaged one, `allocate`.
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
