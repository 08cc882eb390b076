import KeychainTesting
import SecItemTesting
import SecretCrypto

@testable import Keychain

/// An unlocked keychain on a store in memory, which contains only the items of the test, and a client of it.
struct QueryFixture {
    let keyRingFixture: KeyRingFixture
    let keychain: KeychainStore
    let client: EngineClient
    let clock: TestClock

    init() throws { try self.init(KeyRingFixture()) }

    init(_ keyRingFixture: KeyRingFixture, valueLimit: Int = 1 << 20) throws {
        self.keyRingFixture = keyRingFixture
        let clock = TestClock()
        self.clock = clock
        keychain = KeychainStore(store: keyRingFixture.store, keys: keyRingFixture.ring, clock: { clock.now() })
        client = EngineClient(engine: QueryEngine(keychain: keychain, valueLimit: valueLimit))
    }

    /// Damages the metadata of an item.
    func damage(_ query: [String: PlainValue]) throws {
        let row = try row(query)
        var records = keyRingFixture.store.records
        guard var record = records.itemRecords[row] else { throw KeychainFault.itemNotFound }
        record.metadata.ciphertext[0] ^= 1
        try records.put(record, secret: nil)
        keyRingFixture.store.records = records
    }

    /// The row of the one item that matches.
    func row(_ query: [String: PlainValue]) throws -> RowID {
        guard let bytes = client.reference(query)?.bytes else { throw KeychainFault.itemNotFound }
        for id in keyRingFixture.store.records.itemRecords.keys {
            if try keychain.item(id: id)?.persistentReference == Array(bytes.dropFirst(4)) { return id }
        }
        throw KeychainFault.itemNotFound
    }
}
