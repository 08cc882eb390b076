import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

@Suite("M15: the MAC of Always items")
struct AlwaysMACTests {
    private let fixture: DigestFixture
    private var ring: KeyRing { fixture.keyRingFixture.ring }

    init() throws { fixture = try DigestFixture() }

    private func record(of item: Item) throws -> ItemRecord {
        try #require(fixture.keyRingFixture.store.records.itemRecords[item.id])
    }

    /// Returns the row that a thief of the device key exchanges for `old`: an Always item with the same tags, sealed
    /// with the class key that the device key opens.
    private func forged(inPlaceOf old: ItemRecord, _ item: Item) throws -> ItemRecord {
        var forged = item
        (forged.protection, forged.secretCount) = (.always, nil)
        let alwaysTag = try ring.itemTag(directory: item.directory, account: item.account, always: true)
        let keys = try RowKeys.sealing(.always, ring: ring)
        let bound = RowAssociatedData(forged, generation: keys.generation, store: ring.storeID)
            .metadata(version: forged.version, tag: old.tag, alwaysTag: alwaysTag, secretSeals: ChunkSeals())
        let plaintext = try MetadataCodec.encode(forged)
        let metadata = try keys.classKeys.metadata.using { (key) throws(CryptoError) in
            try Sealed.sealing(plaintext.bytes, key: key, bound: bound)
        }
        return ItemRecord(
            id: old.id, directory: old.directory, version: forged.version, protection: .always,
            generation: keys.generation, masterKeyGeneration: 1, tag: old.tag, alwaysTag: alwaysTag, ephemeral: nil,
            mac: [UInt8](repeating: 0, count: AlwaysMAC.byteCount), metadata: metadata, secretSeals: ChunkSeals())
    }

    @Test(
        "H2: the device key alone replaces no item after the first unlock",
        arguments: [ProtectionClass.always, .whenUnlocked])
    func forgery(protection: ProtectionClass) throws {
        let item = try fixture.add("alice", protection)
        let old = try record(of: item)
        let other = try record(of: fixture.add("other", .always))
        var changed = item
        changed.attributes[.comment] = .string("forged")
        let forged = try forged(inPlaceOf: old, changed)
        let envelope = fixture.keyRingFixture.items
        for mac in [forged.mac, old.mac, other.mac, nil, [], [UInt8](repeating: 0, count: 31)] {
            var row = forged
            row.mac = mac
            #expect(throws: KeychainFault.decode) { try envelope.open(row) }
            row.masterKeyGeneration = nil
            #expect(throws: KeychainFault.decode) { try envelope.open(row) }
        }
        // Until the first unlock it cannot be distinguished (contract, S3).
        let cold = try KeyRingFixture(copying: fixture.keyRingFixture.store.records)
        #expect(try cold.items.open(forged).attributes[.comment] == .string("forged"))
        // With the row-MAC key it is a row like any other: nothing else is wrong with it.
        var authentic = forged
        let master = try ring.masterKeys()
        try authentic.authenticate(master: master, store: ring.storeID)
        #expect(try envelope.open(authentic).attributes[.comment] == .string("forged"))
    }

    @Test(
        "M15: it covers the ciphertext of the metadata and the seals of the contents, not only nonces and tags",
        arguments: [ProtectionClass.always, .alwaysThisDeviceOnly])
    func ciphertexts(protection: ProtectionClass) throws {
        let item = try fixture.add("alice", protection)
        let row = try record(of: item)
        let other = try record(of: fixture.add("other", protection))
        try row.verifyRow(ring: ring)
        for index in row.secretSeals.bytes.indices {
            var changed = row
            changed.secretSeals = try #require(ChunkSeals(bytes: row.secretSeals.bytes.flipped(index)))
            #expect(throws: KeychainFault.decode) { try changed.verifyRow(ring: ring) }
        }
        for index in row.metadata.ciphertext.indices {
            var changed = row
            changed.metadata.ciphertext = row.metadata.ciphertext.flipped(index)
            #expect(throws: KeychainFault.decode) { try changed.verifyRow(ring: ring) }
        }
        for change: (inout ItemRecord) -> Void in [
            { $0.id = $0.id.next }, { $0.directory = $0.directory.next }, { $0.version += 1 }, { $0.generation += 1 },
            { $0.protection = $0.protection == .always ? .alwaysThisDeviceOnly : .always }, { $0.tag[0] ^= 1 },
            { $0.alwaysTag?[0] ^= 1 }, { $0.secretSeals = ChunkSeals() }, { $0.masterKeyGeneration = 2 },
            { $0.metadata.nonceAndTag = other.metadata.nonceAndTag }, { $0.mac?[0] ^= 1 }, { $0.mac?[31] ^= 1 },
        ] {
            var changed = row
            change(&changed)
            #expect(throws: KeychainFault.decode) { try changed.verifyRow(ring: ring) }
        }
    }

    @Test("M15: only Always items have one, and a change of attributes renews it without the secret")
    func changes() throws {
        for protection in ProtectionClass.allCases {
            let row = try record(of: fixture.add("\(protection)", protection))
            #expect((row.mac?.count == 32) == (protection.availability == .always), "\(protection)")
            #expect((row.masterKeyGeneration == 1) == (protection.availability == .always), "\(protection)")
        }
        let item = try fixture.add("alice", .always)
        let old = try record(of: item)
        var changed = item
        changed.attributes[.comment] = .string("changed")
        let saved = try fixture.keychain.change { [changed] (transaction) throws(KeychainFault) in
            try transaction.save(changed)
        }
        let new = try record(of: saved)
        #expect(new.mac != old.mac && new.secretSeals == old.secretSeals)
        #expect(try fixture.keychain.itemWithSecret(id: item.id)?.secret?.all() == [1, 2, 3])
    }

    @Test("M14, M15: a rekey renews the MACs of another device's items, and those under class keys that stay")
    func rekey() throws {
        let items = [try fixture.add("always", .always), try fixture.add("mine", .alwaysThisDeviceOnly)]
        let second = try RekeyFixture(fixture.keyRingFixture.store.records, device: 2)
        let foreign = try second.add(fixture.item("foreign", .alwaysThisDeviceOnly))
        let first = try RekeyFixture(second.store.records)
        try first.start()
        // A further rotation renews the keys of Always, but not those of this device's classes.
        let userKey = try first.keychain.keys.userKey(passphrase: SecretBytes(text: "correct"))
        _ = try first.keychain.keys.renewKeys(userKey: userKey)
        try first.keychain.rekey()
        #expect(first.sets == 1 && first.keychain.rekeyProgress.left == 0)
        for item in items + [foreign] {
            let row = try #require(first.store.records.itemRecords[item.id])
            #expect(row.masterKeyGeneration == 3)
            try row.verifyRow(ring: first.keychain.keys)
        }
        try first.expectItems(items)
        try RekeyFixture(first.store.records, device: 2).expectItems([foreign, items[0]])
    }

    @Test("M14, M15: a rekey does not renew a MAC that is wrong; the row stays damaged")
    func damaged() throws {
        let second = try RekeyFixture(fixture.keyRingFixture.store.records, device: 2)
        let foreign = try second.add(fixture.item("foreign", .alwaysThisDeviceOnly))
        var records = second.store.records
        var row = try #require(records.itemRecords[foreign.id])
        row.mac?[0] ^= 1
        try records.put(row, secret: nil)
        let first = try RekeyFixture(records)
        try first.start(acceptingDifferences: true)
        try first.keychain.rekey()
        #expect(first.sets == 1 && first.keychain.rekeyProgress.left == 1)
        #expect(first.store.records.itemRecords[foreign.id] == row)
        #expect(throws: KeychainFault.decode) { try row.verifyRow(ring: first.keychain.keys) }
    }
}
