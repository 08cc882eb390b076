import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

/// Rows that only the holder of a former key can create: sealed correctly, but with the lookup tag of another name.
@Suite("M19: the opened row is the requested one")
struct ForgedNameTests {
    private let fixture: DigestFixture
    private var ring: KeyRing { fixture.keyRingFixture.ring }

    init() throws { fixture = try DigestFixture() }

    /// Replaces the row of `item` by a row that contains `other`.
    private func forge(_ item: Item, as other: Item) throws {
        let tag = try ring.itemTag(directory: item.directory, account: item.account)
        var forged = other
        (forged.id, forged.secretCount) = (item.id, nil)
        let keys = try RowKeys.sealing(forged.protection, ring: ring)
        let bound = RowAssociatedData(forged, generation: keys.generation, store: ring.storeID)
            .metadata(version: forged.version, tag: tag, alwaysTag: nil, secretSeals: ChunkSeals())
        let plaintext = try MetadataCodec.encode(forged)
        let metadata = try keys.metadataKey(bound).using { (key) throws(CryptoError) in
            try Sealed.sealing(plaintext.bytes, key: key, bound: bound)
        }
        try put(
            ItemRecord(
                id: forged.id, directory: forged.directory, version: forged.version, protection: forged.protection,
                generation: keys.generation, tag: tag, alwaysTag: nil, ephemeral: nil, mac: nil, metadata: metadata,
                secretSeals: ChunkSeals()))
    }

    private func put(_ record: ItemRecord) throws {
        try fixture.keyRingFixture.store.write { (writer) throws(KeychainFault) in try writer.put(record, secret: []) }
    }

    @Test("R41: an item with another account is damaged, found by its tag or by its row, and a new item replaces it")
    func account() throws {
        let keychain = fixture.keychain
        let item = try fixture.add("alice")
        let name = CanonicalName(account: item.account)
        var other = item
        other.account = .string("bob")
        try forge(item, as: other)
        #expect(throws: KeychainFault.decode) { _ = try keychain.item(named: name, in: item.directory) }
        #expect(throws: KeychainFault.decode) { _ = try keychain.item(id: item.id) }
        #expect(throws: KeychainFault.decode) {
            _ = try keychain.change { (change) throws(KeychainFault) in
                try change.item(named: name, in: item.directory)
            }
        }
        let freed = try keychain.change { (change) throws(KeychainFault) in
            try change.freeName(name, in: item.directory, for: RowID(rawValue: 9000))
        }
        #expect(freed == item.id)
        try fixture.add("alice")
        #expect(try keychain.item(named: name, in: item.directory)?.account == .string("alice"))
    }

    @Test("R41: an item in another directory is damaged, and reported by a check")
    func directory() throws {
        let item = try fixture.add("alice")
        var other = item
        other.directory = RowID(rawValue: item.directory.rawValue + 1)
        try forge(item, as: other)
        #expect(throws: KeychainFault.decode) {
            _ = try fixture.keychain.item(named: CanonicalName(account: item.account), in: item.directory)
        }
        other.directory = item.directory
        other.account = .string("bob")
        try forge(item, as: other)
        #expect(try fixture.keychain.check().damagedItems.count == 1)
    }

    @Test("R41: a directory with another name is damaged, found by its tag or by its row, for reads and writes")
    func service() throws {
        let store = fixture.keyRingFixture.store
        let container = ContainerKey(itemClass: .genericPassword)
        let name = CanonicalName(service: .generic(service: .string("mail")))
        let record = try #require(store.records.directoryRecords[fixture.directory])
        var directory = try fixture.keyRingFixture.directories.open(record)
        directory.key = .service(.generic(service: .string("bank")))
        let plaintext = try DirectoryCodec.encode(directory)
        let bound = AssociatedData(.directoryName, store: ring.storeID)
            .adding(record.id.rawValue, record.parent.rawValue, record.masterKeyGeneration, record.version)
            .adding(part: record.tag)
        var forged = record
        forged.name = try ring.masterKeys().directory.using { (key) throws(CryptoError) in
            try Sealed.sealing(plaintext.bytes, key: key, bound: bound)
        }
        try store.write { [forged] (writer) throws(KeychainFault) in try writer.put(forged) }
        let other = KeychainStore(store: store, keys: ring, clock: { .sample })
        #expect(throws: KeychainFault.decode) { try other.directory(id: record.id) }
        // A rekey does not give it new keys.
        #expect(throws: KeychainFault.decode) { try other.directoryEnvelope.renew(forged) }
        #expect(throws: KeychainFault.decode) { _ = try other.directory(named: name, in: container) }
        #expect(throws: KeychainFault.decode) {
            try other.change { (change) throws(KeychainFault) in _ = try change.directory(named: name, in: container) }
        }
    }
}

@Suite("R40: the padding of a secret")
struct SecretPaddingTests {
    /// Seals `padded` for an item whose secret has only `count` bytes.
    private func secret(_ padded: [UInt8], count: Int) throws -> SealedSecret {
        let fixture = try KeyRingFixture()
        var item = Item.sample()
        item.secretCount = padded.count
        let sealed = try fixture.items.seal(item, secret: padded.rawSpan)
        item.secretCount = count
        let record = try fixture.items.seal(item, keeping: sealed.record)
        return try fixture.items.secret(of: item, record: record, ciphertext: sealed.secret)
    }

    @Test("R40: bytes that are not zero after the end are a damage, in every kind of read", arguments: [3, 65, 65600])
    func notZeros(count: Int) throws {
        let padded = Padding.paddedCount(count)
        for place in [count, padded - 1] {
            var bytes = [UInt8](repeating: 7, count: count) + [UInt8](repeating: 0, count: padded - count)
            let intact = try secret(bytes, count: count)
            #expect(try intact.all() == Array(bytes[..<count]))
            try intact.verify()
            bytes[place] = 1
            let damaged = try secret(bytes, count: count)
            #expect(throws: KeychainFault.decode) { try damaged.all() }
            #expect(throws: KeychainFault.decode) { try damaged.bytes(at: count - 1, count: 1) }
            #expect(throws: KeychainFault.decode) { try damaged.bytes(at: 0, count: padded) }
            #expect(throws: KeychainFault.decode) { try damaged.verify() }
        }
    }

    @Test("R40: a secret that ends with its chunk has no padding", arguments: [64, 65536])
    func noPadding(count: Int) throws {
        let bytes = [UInt8](repeating: 7, count: count)
        #expect(Padding.paddedCount(count) == count)
        let intact = try secret(bytes, count: count)
        #expect(try intact.all() == bytes)
        try intact.verify()
    }
}
