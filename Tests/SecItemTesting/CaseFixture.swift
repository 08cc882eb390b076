package import Keychain
internal import KeychainServer
package import KeychainTesting
internal import SecretCrypto
import Synchronization

/// An unlocked keychain on a store in memory, which contains only the items of the case, and a client that uses one of
/// the transports.
package final class CaseFixture: Sendable {
    package let store: InMemoryRecordStore
    package let ring: KeyRing
    package let keychain: KeychainStore
    package let clock = TestClock()
    private let valueLimit: Int
    private let lastChanges = LastChanges()
    private let transport: Mutex<(transport: Transport, client: any SecItemClient)>

    /// The engine itself answers until ``use(_:)``.
    package init(valueLimit: Int = 1 << 20) throws {
        let device = [UInt8](repeating: 1, count: 32)
        store = InMemoryRecordStore()
        try KeyRing.create(
            in: store, passphrase: SecretBytes(text: "correct"), cost: .cheap,
            device: SecretBytes(copying: device.rawSpan))
        ring = try KeyRing(store: store, device: SecretBytes(copying: device.rawSpan))
        try ring.unlock(passphrase: SecretBytes(text: "correct"))
        let clock = clock
        keychain = KeychainStore(store: store, keys: ring, clock: { clock.now() })
        self.valueLimit = valueLimit
        let engine = Transport.engine.makeClient(keychain, valueLimit, lastChanges)
        transport = Mutex((.engine, engine))
    }

    /// Makes the client use `transport` from now on.
    package func use(_ transport: Transport) {
        let client = transport.makeClient(keychain, valueLimit, lastChanges)
        self.transport.withLock { $0 = (transport, client) }
    }

    package var client: any SecItemClient { transport.withLock { $0.client } }

    /// Another client of the same keychain, which does not know the references that were returned before.
    package func newClient() -> any SecItemClient {
        transport.withLock { $0.transport }.makeClient(keychain, valueLimit, lastChanges)
    }

    /// Whether the last call has reported the right changes; true if the transport reports none.
    package func changed(_ isRight: ([ItemChange]) -> Bool) -> Bool {
        guard transport.withLock({ $0.transport.reportsChanges }) else { return true }
        return isRight(lastChanges.all)
    }

    package func unlock() throws { try ring.unlock(passphrase: SecretBytes(text: "correct")) }

    /// Damages the metadata of an item.
    package func damage(_ query: [String: PlainValue]) throws {
        let row = try row(query)
        var records = store.records
        guard var record = records.itemRecords[row] else { throw KeychainFault.itemNotFound }
        record.metadata.ciphertext[0] ^= 1
        try records.put(record, secret: nil)
        store.records = records
    }

    /// The row of the one item that matches.
    package func row(_ query: [String: PlainValue]) throws -> RowID {
        guard let bytes = client.reference(query)?.bytes else { throw KeychainFault.itemNotFound }
        for id in store.records.itemRecords.keys {
            if try keychain.item(id: id)?.persistentReference == Array(bytes.dropFirst(4)) { return id }
        }
        throw KeychainFault.itemNotFound
    }
}

/// A clock that moves a second with each look.
package final class TestClock: Sendable {
    private let seconds = Mutex<Int64>(1_700_000_000)

    package init() {}

    package func now() -> KeychainDate {
        seconds.withLock { seconds in
            seconds += 1
            return KeychainDate(seconds: seconds, nanoseconds: 123_456_789)
        }
    }
}
