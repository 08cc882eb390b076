import Foundation
import KeychainRPC
import KeychainService
import KeychainTesting
import SecretCrypto

@testable import Keychain
@testable import KeychainClient

/// A keychain in memory, unlocked, and the client's view of it.
struct ClientFixture {
    let store: Keychain.Keychain
    let client: KeychainClient.Keychain

    init(groups: [String] = ["team.app", "team.shared"]) throws {
        let records = InMemoryRecordStore()
        let device = { try SecretBytes(copying: [UInt8](repeating: 7, count: 32).rawSpan) }
        let passphrase = { try SecretBytes(copying: Array("correct".utf8).rawSpan) }
        try KeyRing.create(in: records, passphrase: passphrase(), cost: .cheap, device: device())
        let ring = try KeyRing(store: records, device: device())
        try ring.unlock(passphrase: passphrase())
        let now = KeychainDate(seconds: 1_700_000_000, nanoseconds: 500_000_000)
        store = try Keychain(store: records, keys: ring) { now }
        let connection = LocalConnection(ItemService(keychain: store), caller: Caller(userID: 1, groupID: 1))
        client = KeychainClient.Keychain(connection, accessGroups: groups)
    }
}
