@testable import KeychainClient

/// A client of a keychain in memory.
struct ClientFixture {
    let store: StoredKeychain
    let client: Keychain

    init() throws {
        store = try StoredKeychain()
        client = Keychain(store.connection, accessGroups: ["team.app", "team.shared"])
    }
}
