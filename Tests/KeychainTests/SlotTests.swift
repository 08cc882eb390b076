import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

@Suite("key slots")
struct SlotTests {
    /// Returns the root key of a passphrase in a store.
    private func root(_ passphrase: String, _ store: StoreRecord) throws -> SecretBytes {
        try SlotUnlock.root(passphrase: SecretBytes(text: passphrase), store: store)
    }

    private func userKey(_ passphrase: String, of records: InMemoryRecords) throws -> SecretBytes {
        let store = try #require(records.storeRecord)
        return try SlotUnlock.userKey(
            root: root(passphrase, store), kind: .passphrase, slots: Array(records.slotRecords.values), store: store)
    }

    /// A slot of another passphrase that opens to `userKey`.
    private func slot(
        _ id: Int64, _ passphrase: String, _ userKey: borrowing SecretBytes, in store: StoreRecord
    ) throws -> SlotRecord {
        let secret = try SlotSecret(root: root(passphrase, store), store: store.identifier, slot: id)
        let place = SlotAddress(
            store: store.identifier, id: id, kind: .passphrase, userKeyGeneration: store.userKeyGeneration)
        return try SlotRecord(wrapping: userKey, for: secret.recipient(), at: place)
    }

    @Test("L5: two passphrase slots open, each alone, from one derivation")
    func twoSlots() throws {
        var records = try KeyRingFixture(unlocked: false).store.records
        let store = try #require(records.storeRecord)
        let key = try userKey("correct", of: records)
        records.slotRecords[2] = try slot(2, "second", key, in: store)
        // One root, whichever slot it is for.
        let root = try root("second", store)
        let slots = records.slotRecords.values.sorted { $0.id < $1.id }
        let opened = try SlotUnlock.userKey(root: root, kind: .passphrase, slots: slots, store: store)
        let isSame = opened.isEqual(to: key)
        #expect(isSame)
        for passphrase in ["correct", "second"] { try KeyRingFixture(copying: records).unlock(passphrase) }
        records.slotRecords[1] = nil
        try KeyRingFixture(copying: records).unlock("second")
        #expect(throws: KeychainFault.authFailed) { try KeyRingFixture(copying: records).unlock("correct") }
    }

    @Test("S3: equal passphrases in two slots give unrelated pairs and records")
    func domains() throws {
        let records = try KeyRingFixture(unlocked: false).store.records
        let store = try #require(records.storeRecord)
        let root = try root("same", store)
        let one = try SlotSecret(root: root, store: store.identifier, slot: 1)
        let two = try SlotSecret(root: root, store: store.identifier, slot: 2)
        let elsewhere = try SlotSecret(root: root, store: [UInt8](repeating: 1, count: 16), slot: 1)
        #expect(Set([one.pair.publicKey, two.pair.publicKey, elsewhere.pair.publicKey]).count == 3)
        let areEqual = one.macKey.isEqual(to: two.macKey)
        #expect(!areEqual)
    }

    @Test("S3: only a holder of the user key can verify a recipient")
    func recipients() throws {
        let records = try KeyRingFixture(unlocked: false).store.records
        let store = try #require(records.storeRecord)
        let slot = try #require(records.slotRecords[1])
        let key = try userKey("correct", of: records)
        let expected = try SlotSecret(root: root("correct", store), store: store.identifier, slot: 1)
        let recipient = try slot.recipient(userKey: key, store: store.identifier)
        let hasMACKey = recipient.macKey.isEqual(to: expected.macKey)
        #expect(recipient.publicKey == expected.pair.publicKey && hasMACKey)
        let other = try SecretBytes(randomCount: 32)
        #expect(throws: CryptoError.authenticationFailed) {
            _ = try slot.recipient(userKey: other, store: store.identifier).publicKey
        }
        for index in slot.recipient.ciphertext.indices {
            var changed = slot
            changed.recipient.ciphertext[index] ^= 1
            #expect(throws: CryptoError.authenticationFailed) {
                _ = try changed.recipient(userKey: key, store: store.identifier).publicKey
            }
        }
    }

    @Test("S3: a rotation wraps for the recipients that the old user key authenticates")
    func rotation() throws {
        var records = try KeyRingFixture(unlocked: false).store.records
        var store = try #require(records.storeRecord)
        let slot = try #require(records.slotRecords[1])
        let old = try userKey("correct", of: records)
        let fresh = try SecretBytes(randomCount: 32)
        let master = try MasterKeyMaterial(opening: store, userKey: old)
        store.userKeyGeneration = 2
        try master.seal(into: &store, userKey: fresh)
        let place = SlotAddress(store: store.identifier, id: 1, kind: .passphrase, userKeyGeneration: 2)
        records.slotRecords[1] = try SlotRecord(
            wrapping: fresh, for: slot.recipient(userKey: old, store: store.identifier), at: place)
        records.storeRecord = store
        let opened = try userKey("correct", of: records)
        let isFresh = opened.isEqual(to: fresh)
        #expect(isFresh)
        // The slot of the generation before, put back.
        records.slotRecords[1] = slot
        #expect(throws: KeychainFault.authFailed) { _ = try userKey("correct", of: records).count }
        records.slotRecords[1]?.userKeyGeneration = 2
        #expect(throws: KeychainFault.authFailed) { _ = try userKey("correct", of: records).count }
    }

    @Test("S3: without a secret no user key can be planted, even with a slot's public key")
    func plantedUserKey() throws {
        var records = try KeyRingFixture(unlocked: false).store.records
        let store = try #require(records.storeRecord)
        let secret = try SlotSecret(root: root("correct", store), store: store.identifier, slot: 1)
        let planted = try SecretBytes(randomCount: 32)
        let place = SlotAddress(store: store.identifier, id: 1, kind: .passphrase, userKeyGeneration: 1)
        let guess = SlotRecipient(
            publicKey: secret.pair.publicKey, macKey: try SecretBytes(randomCount: 32))
        records.slotRecords[1] = try SlotRecord(wrapping: planted, for: guess, at: place)
        #expect(throws: KeychainFault.authFailed) { try KeyRingFixture(copying: records).unlock() }
    }

    @Test(
        "S3: a slot that an attacker has written answers as a wrong passphrase, also while unlocked, and does not hide the others"
    )
    func plantedSlot() throws {
        var records = try KeyRingFixture(unlocked: false).store.records
        let store = try #require(records.storeRecord)
        let planted = try SecretBytes(randomCount: 32)
        records.slotRecords[0] = try slot(0, "evil", planted, in: store)
        // Created with knowledge of the passphrase.
        records.slotRecords[-1] = try slot(-1, "correct", planted, in: store)
        let fixture = try KeyRingFixture(copying: records)
        #expect(throws: KeychainFault.decode) { try fixture.unlock("evil") }
        #expect(fixture.ring.state == .beforeFirstUnlock)
        #expect(!fixture.ring.isAvailable(.whenUnlocked))
        try fixture.unlock()
        #expect(fixture.ring.state == .unlocked)
        #expect(throws: KeychainFault.decode) { try fixture.unlock("evil") }
        #expect(throws: KeychainFault.authFailed) { try fixture.unlock("wrong") }
        try fixture.unlock()
        fixture.ring.lock()
        #expect(throws: KeychainFault.decode) { try fixture.unlock("evil") }
        #expect(throws: KeychainFault.decode) {
            _ = try fixture.ring.userKey(with: UnlockSecret(passphrase: SecretBytes(text: "evil"))).count
        }
        #expect(fixture.ring.state == .locked)
    }

    @Test("S3: a slot of one store opens nothing in another")
    func transplanted() throws {
        let one = try KeyRingFixture(unlocked: false).store.records
        var two = try KeyRingFixture(unlocked: false).store.records
        two.slotRecords = one.slotRecords
        #expect(throws: KeychainFault.authFailed) { try KeyRingFixture(copying: two).unlock() }
        two.storeRecord?.salt = try #require(one.storeRecord?.salt)
        #expect(throws: KeychainFault.authFailed) { try KeyRingFixture(copying: two).unlock() }
        two.storeRecord = one.storeRecord
        // Now user and master keys are the first store's: its class keys are not.
        let fixture = try KeyRingFixture(copying: two)
        try fixture.unlock()
        #expect(!fixture.ring.isAvailable(.whenUnlocked))
        #expect(throws: KeychainFault.decode) { try fixture.add(.sample(), [1]) }
    }
}
