@testable import KeychainClient

/// A client of a keychain in memory.
struct ClientFixture {
    let store: InMemoryKeychain
    let client: Keychain

    init() throws {
        store = try InMemoryKeychain()
        client = Keychain(store.connection, accessGroups: ["team.app", "team.shared"])
    }
}
