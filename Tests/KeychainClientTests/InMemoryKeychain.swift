import Keychain
import KeychainRPC
import KeychainServer
import KeychainTesting
import SecretCrypto

/// An unlocked keychain in memory, and its transport. In a separate file, because the API has a type of that name too.
struct InMemoryKeychain {
    private let keychain: KeychainStore
    let connection: any KeychainTransport

    init() throws {
        let store = InMemoryRecordStore()
        let device = { try SecretBytes(copying: [UInt8](repeating: 7, count: 32).rawSpan) }
        let passphrase = { try SecretBytes(copying: Array("correct".utf8).rawSpan) }
        try KeyRing.create(in: store, passphrase: passphrase(), cost: .cheap, device: device())
        let ring = try KeyRing(store: store, device: device())
        try ring.unlock(passphrase: passphrase())
        let now = KeychainDate(seconds: 1_700_000_000, nanoseconds: 500_000_000)
        keychain = KeychainStore(store: store, keys: ring) { now }
        connection = InProcessTransport(RequestHandler(keychain: keychain), owner: FileOwner(userID: 1, groupID: 1))
    }

    func lock() { keychain.lock() }
}
