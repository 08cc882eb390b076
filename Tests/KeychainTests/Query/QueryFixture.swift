import KeychainTesting
import SecretCrypto
import Synchronization

@testable import Keychain

/// An unlocked keychain on a store in memory, empty but for what a test adds, and a client of it.
struct QueryFixture {
    let bench: Bench
    let keychain: Keychain
    let client: EngineClient
    let clock: TestClock

    init() throws { try self.init(Bench()) }

    init(_ bench: Bench, valueLimit: Int = 1 << 20) throws {
        self.bench = bench
        let clock = TestClock()
        self.clock = clock
        keychain = try Keychain(store: bench.store, keys: bench.ring, clock: { clock.now() })
        client = EngineClient(engine: QueryEngine(keychain: keychain, valueLimit: valueLimit))
    }

    /// Damages the metadata of an item.
    func damage(_ query: [String: Plain]) throws {
        let row = try row(query)
        var records = bench.store.records
        guard var record = records.itemRecords[row] else { throw KeychainError.itemNotFound }
        record.metadata.ciphertext[0] ^= 1
        try records.put(record, secret: nil)
        bench.store.records = records
    }

    /// The row of the one item that matches.
    func row(_ query: [String: Plain]) throws -> RowID {
        guard let bytes = client.reference(query)?.bytes else { throw KeychainError.itemNotFound }
        for id in bench.store.records.itemRecords.keys {
            if try keychain.item(id: id)?.persistentReference == Array(bytes.dropFirst(4)) { return id }
        }
        throw KeychainError.itemNotFound
    }
}

/// A clock that moves a second with each look.
final class TestClock: Sendable {
    private let seconds = Mutex<Int64>(1_700_000_000)

    func now() -> KeychainDate {
        seconds.withLock { seconds in
            seconds += 1
            return KeychainDate(seconds: seconds, nanoseconds: 123_456_789)
        }
    }
}

extension [String: Plain] {
    /// A generic password's key.
    static func generic(_ service: Plain, _ account: Plain) -> [String: Plain] {
        [kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account]
    }

    /// An internet password's key, as far as it is given.
    static func internet(_ server: Plain, _ account: Plain) -> [String: Plain] {
        [kSecClass: kSecClassInternetPassword, kSecAttrServer: server, kSecAttrAccount: account]
    }

    static let anyGeneric: [String: Plain] = [kSecClass: kSecClassGenericPassword]
    static let anyInternet: [String: Plain] = [kSecClass: kSecClassInternetPassword]
}
