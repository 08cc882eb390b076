import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

@Suite("M4: what later versions may add (store-format.md, section 11)")
struct FeatureMaskTests {
    private func records(_ change: (inout StoreRecord) -> Void) throws -> InMemoryRecords {
        let fixture = try DigestFixture()
        _ = try fixture.add("alice")
        var records = fixture.keyRingFixture.store.records
        var store = try #require(records.storeRecord)
        change(&store)
        records.storeRecord = store
        return records
    }

    @Test("A3, R49: a store with an unknown bit of the reader mask is not opened", arguments: [0, 1, 40, 63])
    func reader(bit: Int) throws {
        let records = try records { $0.readerMask = 1 << bit }
        #expect(throws: KeychainFault.unknownFeature) { try RekeyFixture(records) }
    }

    @Test("A4, R50: a store with an unknown bit of the writer mask is only read", arguments: [0, 1, 40, 63])
    func writer(bit: Int) throws {
        let records = try records { $0.writerMask = 1 << bit }
        let fixture = try RekeyFixture(records)
        let keychain = fixture.keychain
        #expect(keychain.isReadOnly && keychain.keys.lacksWriterFeature)
        let item = try #require(fixture.store.records.itemRecords.values.first)
        #expect(try keychain.itemWithSecret(id: item.id)?.secret?.all() == [1, 2, 3])
        let before = fixture.store.writeCount
        #expect(throws: KeychainFault.readOnly) {
            try keychain.change { (change) throws(KeychainFault) in try change.deleteItem(item.id) }
        }
        #expect(throws: KeychainFault.readOnly) { try fixture.start() }
        let userKey = try keychain.keys.userKey(passphrase: SecretBytes(text: "correct"))
        #expect(throws: KeychainFault.readOnly) { try keychain.keys.renewKeys(userKey: userKey) }
        keychain.lock()
        try fixture.unlock()
        #expect(fixture.store.writeCount == before)
    }

    @Test("A1, A2: fields and attributes of later versions stay when this version changes or reseals a row")
    func laterFields() throws {
        let fixture = try DigestFixture()
        let later = [LaterField(tag: 128, value: []), LaterField(tag: 255, value: [1, 2])]
        var item = try fixture.add("alice")
        (item.laterFields, item.laterAttributes) = (later, later)
        item = try fixture.keychain.change { [item] (change) throws(KeychainFault) in try change.save(item) }
        var directory = try #require(try fixture.keychain.directory(id: fixture.directory))
        directory.laterFields = later
        _ = try fixture.keychain.change { [directory] (change) throws(KeychainFault) in try change.save(directory) }
        // A change of an attribute, a new secret, a new modification time of the directory, a rekey.
        item.attributes[.comment] = .string("changed")
        item.secretCount = 3
        _ = try fixture.keychain.change { [item] (change) throws(KeychainFault) in
            _ = try change.save(item, secret: Contents(bytes: [1, 2, 3]))
            try change.touchDirectory(fixture.directory)
        }
        let safe = try RekeyFixture(fixture.keyRingFixture.store.records)
        try safe.start()
        try safe.keychain.rekey()
        let found = try #require(try safe.keychain.item(id: item.id))
        #expect(found.laterFields == later && found.laterAttributes == later)
        #expect(found.attributes[.comment] == .string("changed"))
        #expect(try safe.keychain.directory(id: fixture.directory)?.laterFields == later)
        #expect(found.withoutAttributes.laterFields.isEmpty && found.withoutAttributes.laterAttributes.isEmpty)
    }

    @Test("A7: bytes of the header that this version does not use stay at a change and a rekey")
    func header() throws {
        let fixture = try DigestFixture()
        _ = try fixture.add("alice")
        let store = fixture.keyRingFixture.store
        let digest = try fixture.keychain.keys.ledger.digest()
        var record = try #require(store.records.storeRecord)
        var bytes = try digest.header(of: record).encoded
        let unused = Array(152..<168) + Array(176..<256)
        for index in unused { bytes[index] = UInt8(index / 2) }
        record.header = try digest.sealed(StoreHeader(decoding: bytes), for: record)
        store.records.storeRecord = record
        _ = try fixture.add("bob")
        let safe = try RekeyFixture(store.records)
        try safe.start()
        try safe.keychain.rekey()
        let found = try safe.keychain.keys.header(of: #require(safe.store.records.storeRecord))
        #expect(unused.map { found.encoded[$0] } == unused.map { bytes[$0] })
        #expect(found.commit > 3 && found.rekeyDevice == 0)
    }

    @Test("R42: a mask that was not committed refuses the unlock")
    func notCommitted() throws {
        let store = InMemoryRecordStore(try records { $0.writerMask = 1 })
        let ring = try KeyRing(store: store, device: KeyRingFixture.device())
        #expect(throws: KeychainFault.decode) { try ring.unlock(passphrase: SecretBytes(text: "correct")) }
    }
}
