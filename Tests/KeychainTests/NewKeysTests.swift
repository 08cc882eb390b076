import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

/// A new user key and a new generation of class keys, as `slot remove` and `rekey` start them.
@Suite("new keys")
struct NewKeysTests {
    /// A store with the passphrases "correct" (slot 1) and "second" (slot 2).
    private func twoSlots() throws -> KeyRingFixture {
        let fixture = try KeyRingFixture()
        let key = try fixture.ring.userKey(passphrase: SecretBytes(text: "correct"))
        let store = try #require(fixture.store.records.storeRecord)
        let root = try SlotUnlock.root(passphrase: SecretBytes(text: "second"), store: store)
        let secret = try SlotSecret(root: root, store: store.identifier, slot: 2)
        let place = SlotAddress(store: store.identifier, id: 2, kind: .passphrase, userKeyGeneration: 1)
        let slot = try SlotRecord(wrapping: key, for: secret.recipient(), at: place)
        try fixture.store.write(by: fixture.ring.ledger) { (writer) throws(KeychainFault) in try writer.put(slot) }
        return fixture
    }

    @discardableResult
    private func renew(
        _ fixture: KeyRingFixture, _ passphrase: String = "correct", removing removed: Set<Int64> = []
    ) throws -> [Int64] {
        let key = try fixture.ring.userKey(passphrase: SecretBytes(text: passphrase))
        return try fixture.ring.renewKeys(userKey: key, removing: removed)
    }

    private func addAll(_ fixture: KeyRingFixture, from id: Int64) throws -> [ItemRecord] {
        try ProtectionClass.allCases.map { protection in
            let item = Item.sample(
                protection, id: id + Int64(protection.rawValue), account: "\(id) \(protection.code)")
            return try fixture.add(item, [protection.rawValue])
        }
    }

    private func isNew(_ protection: ProtectionClass, _ generation: Int64) -> Bool {
        generation == (protection.isThisDeviceOnly ? 1 : 2)
    }

    @Test("L5, M14: later writes use new keys of classes that the user key alone seals; earlier rows open unchanged")
    func generations() throws {
        let fixture = try KeyRingFixture()
        let before = try addAll(fixture, from: 100)
        try renew(fixture)
        let after = try addAll(fixture, from: 200)
        #expect(before.allSatisfy { $0.generation == 1 } && after.allSatisfy { isNew($0.protection, $0.generation) })
        for row in before + after { #expect(try fixture.contents(row) == [row.protection.rawValue]) }
        let later = try KeyRingFixture(copying: fixture.store.records)
        try later.unlock()
        for row in before + after { #expect(try later.contents(row) == [row.protection.rawValue]) }
        let generations = Dictionary(grouping: fixture.store.records.classKeyRecords, by: \.purpose)
        for (purpose, records) in generations where purpose != .alwaysLookup {
            #expect(Set(records.map(\.generation)) == (purpose.isThisDeviceOnly ? [1] : [1, 2]))
        }
        #expect(generations[.alwaysLookup]?.allSatisfy { $0.generation == 1 } == true)
    }

    @Test(
        "L5, S3: the removed slot does not open the new store; the others do, without their secrets having been entered"
    )
    func removal() throws {
        let fixture = try twoSlots()
        let old = fixture.store.records
        #expect(try renew(fixture, removing: [1]) == [1])
        #expect(fixture.store.records.storeRecord?.userKeyGeneration == 2)
        try KeyRingFixture(copying: fixture.store.records).unlock("second")
        #expect(throws: KeychainFault.authFailed) {
            try KeyRingFixture(copying: fixture.store.records).unlock("correct")
        }
        // That is what an older copy is.
        try KeyRingFixture(copying: old).unlock("correct")
    }

    @Test("L5: the former user key opens no row that is written later")
    func oldUserKey() throws {
        let fixture = try twoSlots()
        let old = try fixture.ring.userKey(passphrase: SecretBytes(text: "correct"))
        try renew(fixture, removing: [1])
        let records = fixture.store.records
        let store = try #require(records.storeRecord)
        #expect(throws: CryptoError.authenticationFailed) {
            _ = try MasterKeyMaterial(opening: store, userKey: old).count
        }
        let keys = try WrappingKeys(user: old, generation: 2, device: KeyRingFixture.device(), store: store.identifier)
        let past = try WrappingKeys(user: old, generation: 1, device: KeyRingFixture.device(), store: store.identifier)
        for record in records.classKeyRecords where record.wrapping != .deviceKey {
            #expect(throws: CryptoError.authenticationFailed) { _ = try keys.unwrap(record).count }
            #expect(throws: CryptoError.authenticationFailed) { _ = try past.unwrap(record).count }
        }
        let slot = try #require(records.slotRecords[2])
        #expect(throws: CryptoError.authenticationFailed) {
            _ = try slot.recipient(userKey: old, store: store.identifier).publicKey
        }
    }

    @Test("S2: the digest is that of the new rows")
    func digest() throws {
        let fixture = try twoSlots()
        let keychain = KeychainStore(store: fixture.store, keys: fixture.ring) { .sample }
        try renew(fixture, removing: [2])
        try renew(fixture)
        #expect(try keychain.verifyNow().rows == nil)
        #expect(fixture.store.records.userKeyRecords.keys.sorted() == [1, 2])
    }

    @Test("S3: two rotations: a device that missed both renews its keys at the next unlock")
    func missedRotations() throws {
        let first = try KeyRingFixture()
        let second = try KeyRingFixture(copying: first.store.records, device: 2)
        try second.unlock()
        let rows = try addAll(second, from: 100)
        let back = try KeyRingFixture(copying: second.store.records)
        try back.unlock()
        try renew(back)
        try renew(back)
        let again = try KeyRingFixture(copying: back.store.records, device: 2)
        try again.unlock()
        for row in rows { #expect(try again.contents(row) == [row.protection.rawValue]) }
        // A new generation of the Always keys reaches it then, too.
        let always = again.store.records.classKeyRecords.filter { $0.purpose == .protection(.always) && $0.device == 2 }
        #expect(Set(always.map(\.generation)) == [1, 2, 3])
    }

    @Test("L2, L5: keys created while locked are wiped; AfterFirstUnlock and UnlessOpen's public key stay")
    func locked() throws {
        let fixture = try KeyRingFixture()
        fixture.ring.lock()
        try renew(fixture)
        for protection in ProtectionClass.allCases {
            let keys = try fixture.ring.currentKeys(for: protection)
            #expect(isNew(protection, keys.generation))
            #expect(keys.isAvailable == (protection.availability != .unlocked))
        }
        #expect(try fixture.ring.currentKeys(for: .whenUnlockedUnlessOpen).publicKey != nil)
        try fixture.unlock()
        #expect(ProtectionClass.allCases.allSatisfy { fixture.ring.isAvailable($0) })
    }

    @Test("L5: a failed commit changes nothing, on the disk and in memory")
    func failure() throws {
        let fixture = try KeyRingFixture()
        let key = try fixture.ring.userKey(passphrase: SecretBytes(text: "correct"))
        fixture.store.failNextWrite(with: .diskFull)
        #expect(throws: KeychainFault.diskFull) { try fixture.ring.renewKeys(userKey: key) }
        #expect(try fixture.ring.currentKeys(for: .whenUnlocked).generation == 1)
        #expect(fixture.store.records.storeRecord?.userKeyGeneration == 1)
        try renew(fixture)
        // The former key is not valid any more, as with two concurrent commands.
        #expect(throws: KeychainFault.authFailed) { try fixture.ring.renewKeys(userKey: key) }
    }

    @Test("L5: no store without a slot; nothing before the first unlock; nothing in a damaged store")
    func refusals() throws {
        let fixture = try twoSlots()
        let key = try fixture.ring.userKey(passphrase: SecretBytes(text: "second"))
        #expect(throws: KeychainFault.param) { try fixture.ring.renewKeys(userKey: key, removing: [1, 2]) }
        let closed = try KeyRingFixture(copying: fixture.store.records)
        #expect(throws: KeychainFault.interactionNotAllowed) { try closed.ring.renewKeys(userKey: key) }
        var damaged = fixture.store.records
        damaged.damagedKeyCount = 1
        fixture.store.records = damaged
        #expect(throws: KeychainFault.decode) { try fixture.ring.renewKeys(userKey: key) }
    }

    @Test("S3: no key is wrapped for a planted or changed slot, and the slot is reported")
    func plantedSlot() throws {
        let fixture = try twoSlots()
        var records = fixture.store.records
        let recipient = try #require(records.slotRecords[2]).recipient
        records.slotRecords[2]?.recipient = Sealed(
            nonceAndTag: recipient.nonceAndTag, ciphertext: recipient.ciphertext.flipped(3))
        fixture.store.records = records.withCommittedKeys()
        #expect(try renew(fixture) == [2])
        #expect(throws: KeychainFault.authFailed) {
            try KeyRingFixture(copying: fixture.store.records).unlock("second")
        }
        try KeyRingFixture(copying: fixture.store.records).unlock("correct")
    }

    @Test(
        "A5, S6: a slot of a kind that is only reserved is wrapped for like any other",
        arguments: [SlotKind.tpm2, .fido2, .systemdCredential, .plugin, .later])
    func reservedSlot(kind: SlotKind) throws {
        let fixture = try KeyRingFixture()
        let key = try fixture.ring.userKey(passphrase: SecretBytes(text: "correct"))
        var records = fixture.store.records
        let store = try #require(records.storeRecord).identifier
        let secret = try SlotSecret(root: SecretBytes(randomCount: 32), store: store, slot: 5)
        let place = SlotAddress(store: store, id: 5, kind: kind, userKeyGeneration: 1, parameters: [1, 2])
        records.slotRecords[5] = try SlotRecord(wrapping: key, for: secret.recipient(), at: place)
        fixture.store.records = records.withCommittedKeys()
        try renew(fixture)
        let slot = try #require(fixture.store.records.slotRecords[5])
        let opened = try slot.userKey(with: secret, store: store)
        let present = try fixture.ring.userKey(passphrase: SecretBytes(text: "correct"))
        let isSame = opened.isEqual(to: present)
        #expect(isSame && slot.kind == kind && slot.parameters == [1, 2])
    }

    @Test("L5: without the last passphrase slot WhenPasscodeSet has no keys any more, also in memory")
    func lastPassphrase() throws {
        let fixture = try twoSlots()
        let row = try fixture.add(.sample(.whenPasscodeSetThisDeviceOnly, id: 100), [1])
        var records = fixture.store.records
        let store = try #require(records.storeRecord).identifier
        let key = try fixture.ring.userKey(passphrase: SecretBytes(text: "correct"))
        let secret = try SlotSecret(root: SecretBytes(randomCount: 32), store: store, slot: 2)
        let place = SlotAddress(store: store, id: 2, kind: .keyFile, userKeyGeneration: 1)
        records.slotRecords[2] = try SlotRecord(wrapping: key, for: secret.recipient(), at: place)
        fixture.store.records = records.withCommittedKeys()
        _ = try fixture.ring.renewKeys(userKey: key, removing: [1])
        #expect(throws: KeychainFault.interactionNotAllowed) { try fixture.items.open(row) }
        #expect(!fixture.ring.isAvailable(.whenPasscodeSetThisDeviceOnly))
        #expect(fixture.ring.isAvailable(.whenUnlockedThisDeviceOnly))
    }
}

@Suite("items after new keys")
struct ItemsAfterNewKeysTests {
    @Test("L5: an item whose attributes change is sealed again, with its secret")
    func attributes() throws {
        let fixture = try KeyRingFixture()
        let keychain = KeychainStore(store: fixture.store, keys: fixture.ring) { .sample }
        var item = try keychain.change { (transaction) throws(KeychainFault) in
            try transaction.save(Item.sample(id: 100), secret: Contents(bytes: [7]))
        }
        let key = try fixture.ring.userKey(passphrase: SecretBytes(text: "correct"))
        _ = try fixture.ring.renewKeys(userKey: key)
        item.attributes[.label] = .string("new")
        let changed = item
        let saved = try keychain.change { (transaction) throws(KeychainFault) in try transaction.save(changed) }
        let record = try #require(fixture.store.records.itemRecords[saved.id])
        #expect(record.generation == 2 && saved.secretVersion == saved.version)
        #expect(try fixture.contents(record) == [7])
        let hasNewReference = try keychain.change { (transaction) throws(KeychainFault) in
            try transaction.renewReference(of: saved.id, from: saved.persistentReference)
        }
        #expect(hasNewReference)
        #expect(try fixture.contents(try #require(fixture.store.records.itemRecords[saved.id])) == [7])
    }

    @Test("L5: no new data is sealed under former keys, even if another program removes the newer ones from the store")
    func newestTakenAway() throws {
        let fixture = try KeyRingFixture()
        let old = try fixture.addCounted(.sample(.whenUnlocked, id: 100, account: "a"), [1])
        let userKey = try fixture.ring.userKey(passphrase: SecretBytes(text: "correct"))
        _ = try fixture.ring.renewKeys(userKey: userKey)
        var records = fixture.store.records
        records.classKeyRecords.removeAll { $0.purpose == .protection(.whenUnlocked) && $0.generation == 2 }
        let robbed = try KeyRingFixture(copying: records)
        try robbed.unlock()
        #expect(throws: KeychainFault.decode) { try robbed.ring.currentKeys(for: .whenUnlocked) }
        #expect(try robbed.contents(old) == [1])
        #expect(try robbed.ring.currentKeys(for: .afterFirstUnlock).generation == 2)
        #expect(try robbed.ring.currentKeys(for: .whenUnlockedThisDeviceOnly).generation == 1)
    }
}
