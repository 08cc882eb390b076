import Keychain
import KeychainRPC

/// A frame as it is put together: entries, and the secrets that belong to them, still sealed.
struct OutgoingFrame: Sendable {
    /// From here on a frame takes no further entry: bytes of what entries hold, bytes of secrets, entries.
    private static let fullPayload = 32 << 10
    private static let fullSecrets = 64 << 10
    private static let fullCount = 512

    private(set) var entries: [PropertyList] = []
    private(set) var secrets: [SealedSecret] = []
    private var payload = 0
    private var secretBytes = 0
    /// Of the last frame.
    var ending: ResponseStatus?

    /// A frame without entries that ends an answer.
    init(ending: ResponseStatus? = nil) { self.ending = ending }

    var isFull: Bool {
        payload >= Self.fullPayload || secretBytes >= Self.fullSecrets || entries.count >= Self.fullCount
    }

    mutating func append(_ entry: QueryEntry) {
        let value: PropertyList
        switch entry {
        case .data(let secret): value = seal(secret)
        case .persistentReference(let bytes): value = .data(bytes)
        case .dictionary(let values, let secret):
            var dictionary = values.mapValues { PropertyList($0) }
            if let secret { dictionary[QueryKey.data] = seal(secret) }
            value = .dictionary(dictionary)
        }
        payload += value.payload
        entries.append(value)
    }

    private mutating func seal(_ secret: SealedSecret) -> PropertyList {
        secrets.append(secret)
        secretBytes += secret.count
        return .secret(secrets.count - 1)
    }

    /// Header and list.
    func head() throws(FrameError) -> [UInt8] {
        try ResponseFrame.head(entries: entries, counts: secrets.map(\.count), ending: ending)
    }
}

extension PropertyList {
    /// About how many bytes it takes in a list.
    fileprivate var payload: Int {
        switch self {
        case .string(let text): text.utf8.count + 4
        case .data(let bytes): bytes.count + 4
        case .array(let values): values.reduce(8) { $0 + $1.payload }
        case .dictionary(let values): values.reduce(8) { $0 + $1.value.payload + 4 }
        default: 12
        }
    }
}
