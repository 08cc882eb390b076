import Keychain
import KeychainRPC

/// A frame under construction: entries, and their sealed secrets.
struct OutgoingFrame: Sendable {
    /// The limits from which a frame accepts no further entry: bytes of entries, bytes of secrets, number of entries.
    private static let fullPayload = 32 << 10
    private static let fullSecrets = 64 << 10
    private static let fullCount = 512

    private(set) var entries: [PropertyList] = []
    private(set) var secrets: [SealedSecret] = []
    private var payload = 0
    private var secretBytes = 0
    /// The final status; only in the last frame.
    var ending: ResponseStatus?

    /// Creates a frame without entries; with `ending` it ends the response.
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

    /// The frame header and the property list.
    func head() throws(FrameError) -> [UInt8] {
        try ResponseFrame.head(entries: entries, counts: secrets.map(\.count), ending: ending)
    }
}

extension PropertyList {
    /// The approximate size in a property list, in bytes.
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
