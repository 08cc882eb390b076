import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

@Suite("M14: generations of master keys")
struct MasterKeyTests {
    private let fixture: DigestFixture

    init() throws { fixture = try DigestFixture() }

    private func keychain(device: UInt8 = 1) throws -> RekeyFixture {
        try RekeyFixture(fixture.keyRingFixture.store.records, device: device)
    }

    @Test("M14: a rekey gives the names of directories new keys; the former ones open none of them")
    func directories() throws {
        let item = try fixture.add("alice")
        let safe = try keychain()
        let before = safe.store.records.directoryRecords
        let former = try safe.keychain.keys.masterKeys()
        let names = try before.values.map(safe.keychain.directoryEnvelope.open)
        try safe.start()
        #expect(safe.sets == 2)
        #expect(try safe.rekeyDevice() == 1)
        // Until it is resealed, a row opens with the keys of its generation.
        #expect(try before.values.map(safe.keychain.directoryEnvelope.open) == names)
        try safe.keychain.rekey()
        try safe.expectRekeyed()
        let after = safe.store.records.directoryRecords
        #expect(try before.values.map { try safe.keychain.directory(id: $0.id) } == names)
        for row in after.values {
            let old = try #require(before[row.id])
            #expect(row.version == old.version && row.tag == old.tag && row.alwaysName == old.alwaysName)
            #expect(row.name.nonceAndTag != old.name.nonceAndTag)
            #expect(throws: KeychainFault.decode) { try safe.keychain.directoryEnvelope.open(old) }
        }
        let new = try safe.keychain.keys.masterKeys()
        #expect(new.generation == 2)
        for (one, other) in [(former.directory, new.directory), (former.rowMAC, new.rowMAC), (former.past, new.past)] {
            #expect(try !areEqual(one, other))
        }
        #expect(try areEqual(former.lookup, new.lookup))
        try safe.expectItems([item])
        try safe.reopened().expectItems([item])
    }

    private func areEqual(_ one: RevocableSecret, _ other: RevocableSecret) throws -> Bool {
        try one.using { (one) throws(CryptoError) in
            try other.use { (other) throws(CryptoError) in one.isEqual(to: other) }
        }
    }

    @Test("M14: an ordinary rotation renews neither master keys nor the keys of this device's classes")
    func ordinaryRotation() throws {
        _ = try fixture.add("alice")
        let safe = try keychain()
        let userKey = try safe.keychain.keys.userKey(passphrase: SecretBytes(text: "correct"))
        _ = try safe.keychain.keys.renewKeys(userKey: userKey)
        #expect(safe.sets == 1)
        #expect(safe.store.records.storeRecord?.masterKeyGeneration == 1)
        for protection in ProtectionClass.allCases {
            let keys = try safe.keychain.keys.currentKeys(for: protection)
            #expect(keys.generation == (protection.isThisDeviceOnly ? 1 : 2), "\(protection)")
        }
    }

    @Test("M14: a rotation during a rekey appends a further set, because a removed slot knows the newest")
    func rotationDuringRekey() throws {
        let item = try fixture.add("alice")
        let safe = try keychain()
        try safe.start()
        let userKey = try safe.keychain.keys.userKey(passphrase: SecretBytes(text: "correct"))
        _ = try safe.keychain.keys.renewKeys(userKey: userKey)
        #expect(safe.sets == 3)
        let next = try safe.reopened()
        #expect(try next.keychain.keys.masterKeySets().all.map(\.generation) == [1, 2, 3])
        try next.keychain.rekey()
        try next.expectRekeyed(3, masters: 3)
        try next.expectItems([item])
    }

    @Test("M14: at most twelve sets; further rotations wait for the end of the rekey")
    func tooManySets() throws {
        _ = try fixture.add("alice")
        let safe = try keychain()
        try safe.start()
        for _ in 3...MasterKeyMaterial.maximumCount {
            let userKey = try safe.keychain.keys.userKey(passphrase: SecretBytes(text: "correct"))
            _ = try safe.keychain.keys.renewKeys(userKey: userKey)
        }
        #expect(safe.sets == MasterKeyMaterial.maximumCount)
        let userKey = try safe.keychain.keys.userKey(passphrase: SecretBytes(text: "correct"))
        let before = safe.store.records.storeRecord
        #expect(throws: KeychainFault.inUse(processID: 0)) { try safe.keychain.keys.renewKeys(userKey: userKey) }
        #expect(safe.store.records.storeRecord == before)
        try safe.keychain.rekey()
        _ = try safe.keychain.keys.renewKeys(userKey: userKey)
        #expect(safe.sets == 1)
    }

    @Test("M14: a rekey of another device is not continued, but a rekey here takes it over")
    func otherDevice() throws {
        let item = try fixture.add("alice")
        let first = try keychain()
        try first.start()
        let second = try RekeyFixture(first.store.records, device: 2)
        #expect(second.keychain.rekeyProgress.phase == .onOtherDevice)
        try second.expectItems([item])
        try second.start()
        #expect(second.sets == 3)
        #expect(try second.rekeyDevice() == 2)
        let back = try RekeyFixture(second.store.records)
        #expect(back.keychain.rekeyProgress.phase == .onOtherDevice)
        let again = try RekeyFixture(back.store.records, device: 2)
        #expect(again.keychain.rekeyProgress.phase == .waiting(.interactionNotAllowed))
        try again.keychain.rekey()
        #expect(again.sets == 1)
        #expect(try again.rekeyDevice() == 0)
        #expect(again.store.records.directoryRecords.values.allSatisfy { $0.masterKeyGeneration == 3 })
        try again.expectItems([item])
    }

    @Test("M14: a directory that does not open does not hold the rekey up, and stays damaged")
    func damagedDirectory() throws {
        let item = try fixture.add("alice")
        let safe = try keychain()
        var row = try #require(safe.store.records.directoryRecords[item.directory])
        row.name.ciphertext[0] ^= 1
        var records = safe.store.records
        try records.put(row)
        safe.store.records = records
        #expect(try safe.start() == .differs)
        #expect(safe.sets == 1 && safe.keychain.rekeyProgress.phase == .idle)
        let damaged = safe.store.records.directoryRecords[item.directory]
        #expect(try safe.start(acceptingDifferences: true) == .started(lostSlots: []))
        try safe.keychain.rekey()
        #expect(safe.keychain.rekeyProgress.phase == .finished && safe.sets == 1)
        #expect(safe.store.records.directoryRecords[item.directory] == damaged)
        #expect(throws: KeychainFault.decode) { try safe.keychain.directory(id: item.directory) }
        #expect(try safe.keychain.verifyNow().rows != nil)
    }

    @Test("R10: sets without a device that rekeys, with another lookup key, missing or cut are refused")
    func damagedSets() throws {
        _ = try fixture.add("alice")
        let safe = try keychain()
        try safe.start()
        let userKey = try safe.keychain.keys.userKey(passphrase: SecretBytes(text: "correct"))
        let records = safe.store.records
        let sets = try MasterKeyMaterial(opening: #require(records.storeRecord), userKey: userKey)
        let bytes = [UInt8](copying: sets.bytes.bytes)
        let (one, two) = (Array(bytes.prefix(256)), Array(bytes.suffix(256)))
        for plaintext in [two, [], one + two.dropLast(), one + [two[0] ^ 1] + two.dropFirst()] {
            let changed = try records.withMasterKeys(plaintext, userKey: userKey)
            #expect(throws: KeychainFault.decode) { try RekeyFixture(changed) }
        }
        _ = try RekeyFixture(records.withMasterKeys(one + two, userKey: userKey))
    }
}

extension InMemoryRecords {
    /// Returns a copy with these sets of master keys, as the holder of the user key writes it.
    fileprivate func withMasterKeys(_ plaintext: [UInt8], userKey: borrowing SecretBytes) throws -> InMemoryRecords {
        var copy = self
        guard var record = storeRecord else { return self }
        let key = try MasterKeyMaterial.key(userKey: userKey, store: record.identifier)
        record.masterKeys = try Sealed.sealing(plaintext.rawSpan, key: key, bound: MasterKeyMaterial.binding(record))
        copy.storeRecord = record
        return try copy.withCommittedKeys(userKey: userKey)
    }
}
