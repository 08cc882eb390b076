import Keychain
import KeychainRPC
import KeychainServer
import KeychainTesting
import SecretCrypto
import Testing

/// An unlocked keychain on a store in memory, and the service that answers for it.
struct ServiceFixture {
    let store = InMemoryRecordStore()
    let keychain: KeychainStore
    let service: RequestHandler
    private let ring: KeyRing
    let me = FileOwner(userID: 7, groupID: 8)

    init() throws {
        let device = [UInt8](repeating: 1, count: 32)
        try KeyRing.create(
            in: store, passphrase: SecretBytes(text: "correct"), cost: .cheap,
            device: SecretBytes(copying: device.rawSpan))
        ring = try KeyRing(store: store, device: SecretBytes(copying: device.rawSpan))
        keychain = KeychainStore(store: store, keys: ring, clock: { KeychainDate(seconds: 1_700_000_000) })
        service = RequestHandler(keychain: keychain)
        try unlock()
    }

    func unlock() throws { try ring.unlock(passphrase: SecretBytes(text: "correct")) }

    func stream(_ request: ItemRequest, secret: [UInt8] = []) throws -> ResponseStream {
        try handle(request, secret: secret).stream
    }

    /// The answer to a request that has been a frame.
    func handle(_ request: ItemRequest, secret: [UInt8] = []) throws -> HandledRequest {
        let head = try RequestFrame.head(of: request, secretCount: secret.count)
        return service.handle(
            list: Array(head.dropFirst(FrameHeader.byteCount)), secret: try SecretBytes(copying: secret.rawSpan),
            by: me)
    }

    /// Damages the sealed bytes of the only secret.
    func damageSecret(at offset: Int) throws {
        let row = try #require(store.records.secrets.keys.first)
        store.records.secrets[row]?[offset] ^= 1
    }

    /// Adds a generic password.
    func add(_ account: String, _ secret: [UInt8], _ attributes: [String: PropertyList] = [:]) throws -> Int32 {
        let item: [String: PropertyList] = [
            "class": .string("genp"), "svce": .string("s"), "acct": .string(account), "v_Data": .secret(0),
        ]
        let request = ItemRequest(.add, query: item.merging(attributes) { $1 }, accessGroups: ["default"])
        return try ReadResponse(stream(request, secret: secret)).status
    }
}

extension ResponseStream {
    /// Bytes of the next piece; nil at the end.
    mutating func nextCount(in arena: SecretArena = .shared) throws(SecurityStatus) -> Int? {
        guard let piece = try next(in: arena) else { return nil }
        return piece.count
    }
}

extension ResponseStream {
    /// The next piece in ordinary memory; nil at the end.
    mutating func nextBytes() throws(SecurityStatus) -> [UInt8]? {
        guard let piece = try next() else { return nil }
        return [UInt8](copying: piece.bytes)
    }
}

/// A complete response.
struct ReadResponse {
    struct Frame {
        let entries: [PropertyList]
        let secrets: [[UInt8]]
    }

    private(set) var frames: [Frame] = []
    private(set) var pieces: [Int] = []
    private(set) var status: Int32 = -1
    private(set) var isList = false

    init(_ stream: ResponseStream) throws {
        var stream = stream
        var reader = ResponseReader()
        var frames: [Frame] = []
        var isList = false
        while let piece = try stream.next() {
            pieces.append(piece.count)
            try reader.append(piece.bytes) { frame in
                let secrets = (0..<frame.secretCount).map { Self.bytes(of: $0, in: frame) }
                frames.append(Frame(entries: frame.entries, secrets: secrets))
                isList = frame.isList
            }
        }
        self.frames = frames
        self.isList = isList
        status = reader.status ?? -1
    }

    var entries: [PropertyList] { frames.flatMap(\.entries) }

    private static func bytes(of index: Int, in frame: borrowing ResponseFrame) -> [UInt8] {
        guard let secret = frame.secret(index) else { return [0xEE] }
        return [UInt8](copying: secret)
    }
}
