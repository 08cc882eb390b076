import KeychainTesting
import SecretCrypto
import Synchronization
import Testing

@testable import Keychain

/// Attacks by the holder of a slot that was removed since, who keeps an older copy and all keys in it, and can write the
/// file, but not the state of the device (audit, H1).
@Suite("S2, S3: the holder of a removed slot")
struct RemovedSlotTests {
    private final class MemoryFile: CommitNumberStore {
        private let bytes = Mutex<[UInt8]?>(nil)

        func load(for store: [UInt8]) -> [UInt8]? { bytes.withLock { $0 } }
        func save(_ record: [UInt8], for store: [UInt8]) { bytes.withLock { $0 = record } }
    }

    /// The keychain before and after the removal of slot 2, and the file of the device that removed it.
    private struct Scene {
        let file = MemoryFile()
        let old: InMemoryRecords
        let new: InMemoryRecords

        init() throws {
            let fixture = try KeyRingFixture()
            file.save(try fixture.ring.encodedState().bytes, for: [])
            let ring = try KeyRing(store: fixture.store, device: KeyRingFixture.device(), commitNumberStore: file)
            try ring.unlock(passphrase: SecretBytes(text: "correct"))
            func root() throws -> SlotRootKey {
                try ring.root(of: UnlockSecret(passphrase: SecretBytes(text: "correct")))
            }
            let second = try UnlockSecret(passphrase: SecretBytes(text: "second"))
            _ = try ring.addSlot(second, authorizedBy: root())
            old = fixture.store.records
            _ = try ring.removeSlot(2, authorizedBy: root())
            new = fixture.store.records
        }

        func ring(_ records: InMemoryRecords) throws -> KeyRing {
            try KeyRing(
                store: InMemoryRecordStore(records), device: KeyRingFixture.device(), commitNumberStore: file)
        }

        /// The user key that the removed slot opened.
        func formerUserKey() throws -> SecretBytes {
            let store = try #require(old.storeRecord)
            let root = try SlotUnlock.root(passphrase: SecretBytes(text: "second"), store: store)
            let slots = old.slotRecords.values.sorted { $0.id < $1.id }
            return try SlotUnlock.userKey(root: root, kind: .passphrase, slots: slots, store: store)
        }
    }

    private func unlock(_ ring: KeyRing) throws { try ring.unlock(passphrase: SecretBytes(text: "correct")) }

    @Test("the keychain itself opens after the removal, and the file names the new generation")
    func intact() throws {
        let scene = try Scene()
        let ring = try scene.ring(scene.new)
        try unlock(ring)
        #expect(ring.rollbackCheck == .passed)
        let bytes = try #require(scene.file.load(for: ring.storeID))
        #expect(try DeviceFileRecord(decoding: bytes, store: ring.storeID).state.userKeyGeneration == 2)
    }

    @Test("an older copy with a forged header of any commit number is refused")
    func olderCopy() throws {
        let scene = try Scene()
        let store = try #require(scene.old.storeRecord)
        let keys = try HeaderKeys(userKey: scene.formerUserKey(), generation: 1, store: store.identifier)
        var header = try StoreHeader(opening: store, keys: keys)
        header.commit = 1000
        var forged = scene.old
        forged.storeRecord?.header = try header.sealed(by: keys, store: store.identifier)
        let ring = try scene.ring(forged)
        #expect(throws: KeychainFault.replacedUserKey) { try unlock(ring) }
        #expect(ring.state == .beforeFirstUnlock && !ring.hasReplacedUserKey)
    }

    @Test("S2: a genuine copy from before the removal is refused as such; accepted, it is still reported as such")
    func acceptedOlderCopy() throws {
        let scene = try Scene()
        let ring = try scene.ring(scene.old)
        #expect(throws: KeychainFault.replacedUserKey) { try unlock(ring) }
        try ring.unlock(passphrase: SecretBytes(text: "correct"), acceptingRollback: true)
        #expect(ring.rollbackCheck == .accepted && ring.hasReplacedUserKey)
        ring.lock()
        try unlock(ring)
        #expect(ring.hasReplacedUserKey)
        let abandoned = try scene.ring(scene.new)
        #expect(throws: KeychainFault.self) { try unlock(abandoned) }
    }

    @Test("a user key that was planted for the remaining slot is refused")
    func plantedUserKey() throws {
        let scene = try Scene()
        let former = try scene.formerUserKey()
        let planted = try SecretBytes(randomCount: 32)
        var forged = scene.new
        var store = try #require(forged.storeRecord)
        let id = store.identifier
        let slot = try #require(scene.old.slotRecords[1])
        let address = SlotAddress(store: id, id: 1, kind: .passphrase, userKeyGeneration: 3)
        forged.slotRecords = [
            1: try SlotRecord(wrapping: planted, for: slot.recipient(userKey: former, store: id), at: address)
        ]
        let material = try MasterKeyMaterial(opening: #require(scene.old.storeRecord), userKey: former)
        store.userKeyGeneration = 3
        try material.seal(into: &store, userKey: planted)
        forged.storeRecord = store
        // A row for generation 2, whose user key the attacker does not know, and one for the known one.
        for generation in [Int64(1), 2] {
            forged.userKeyRecords[generation] = try UserKeyRecord(
                sealing: former, generation: generation, under: planted, present: 3, store: id)
        }
        let keys = try HeaderKeys(userKey: planted, generation: 3, store: id)
        var header = StoreHeader()
        header.commit = 1000
        header.sums = try forged.sums(RowDigest(keys))
        forged.storeRecord?.header = try header.sealed(by: keys, store: id)
        let ring = try scene.ring(forged)
        #expect(throws: KeychainFault.untrustedCommitNumber) { try unlock(ring) }
        #expect(ring.state == .beforeFirstUnlock)
        // A device without a file cannot know better: the forgery itself is valid.
        try KeyRing(store: InMemoryRecordStore(forged), device: KeyRingFixture.device(7))
            .unlock(passphrase: SecretBytes(text: "correct"))
    }

    @Test("S2: two copies have the same history if the older user key of both is a key of each")
    func histories() throws {
        let scene = try Scene()
        let (old, new) = (try scene.ring(scene.old), try scene.ring(scene.new))
        let root = try old.root(of: UnlockSecret(passphrase: SecretBytes(text: "correct")))
        for (one, other) in [(old, old), (new, new), (old, new), (new, old)] {
            #expect(try one.hasSameHistory(as: other, root: root) == true)
        }
        // The holder of the slot renews the keys of the older copy.
        let forged = try KeyRing(store: InMemoryRecordStore(scene.old), device: KeyRingFixture.device(7))
        let second = { try UnlockSecret(passphrase: SecretBytes(text: "second")) }
        try forged.unlock(with: second())
        _ = try forged.changeSlot(2, to: second(), authorizedBy: forged.root(of: second()))
        #expect(try forged.hasSameHistory(as: new, root: root) == false)
        #expect(try new.hasSameHistory(as: forged, root: root) == false)
        #expect(try forged.hasSameHistory(as: old, root: root) == true)
        #expect(try forged.keptState(in: scene.file, root: root) == .untrusted)
        #expect(try old.keptState(in: scene.file, root: root) == .newerUserKey)
        // With a damaged key of the replaced keychain the result is unknown; a backup without its key is refused.
        var damaged = scene.new
        damaged.userKeyRecords[1]?.key.ciphertext[0] ^= 1
        #expect(try old.hasSameHistory(as: scene.ring(damaged), root: root) == nil)
        #expect(try scene.ring(damaged).hasSameHistory(as: old, root: root) == false)
        let other = try KeyRingFixture().ring.root(of: UnlockSecret(passphrase: SecretBytes(text: "wrong")))
        #expect(throws: KeychainFault.authFailed) { try old.hasSameHistory(as: new, root: other) }
    }

    @Test("rows that are forged under former keys are detected, because their sum needs the present user key")
    func forgedRow() throws {
        let fixture = try DigestFixture()
        let item = try fixture.add("a")
        let ring = fixture.keyRingFixture.ring
        let former = try ring.userKey(passphrase: SecretBytes(text: "correct"))
        _ = try ring.changeSlot(
            1, to: UnlockSecret(passphrase: SecretBytes(text: "new")),
            authorizedBy: ring.root(of: UnlockSecret(passphrase: SecretBytes(text: "correct"))))
        #expect(try fixture.keychain.verifyNow().isConsistent)
        // With the class keys of generation 1, and the header keys of the former user key.
        var row = try #require(fixture.keyRingFixture.store.records.itemRecords[item.id])
        let keys = try ring.keys(for: .protection(.whenUnlocked), generation: 1)
        let bound = RowAssociatedData(row, store: ring.storeID).metadata(
            version: row.version, tag: row.tag, alwaysTag: nil, secretSeals: row.secretSeals)
        var forged = item
        forged.attributes[.label] = .string("forged")
        let plaintext = try MetadataCodec.encode(forged)
        row.metadata = try keys.metadata.using { (key) throws(CryptoError) in
            try Sealed.sealing(plaintext.bytes, key: key, bound: bound)
        }
        var records = fixture.keyRingFixture.store.records
        try records.put(row, secret: nil)
        fixture.keyRingFixture.store.records = records
        #expect(try fixture.keychain.verifyNow().rows == .rowsReplaced)
        let store = try #require(records.storeRecord)
        let formerKeys = try HeaderKeys(userKey: former, generation: 1, store: store.identifier)
        #expect(throws: KeychainFault.decode) { try StoreHeader(opening: store, keys: formerKeys) }
    }
}

@Suite("S2, L5: sums across a rotation")
struct RotatedSumTests {
    private func rotate(_ fixture: DigestFixture, _ passphrase: String, to next: String) throws {
        let ring = fixture.keyRingFixture.ring
        _ = try ring.changeSlot(
            1, to: UnlockSecret(passphrase: SecretBytes(text: next)),
            authorizedBy: ring.root(of: UnlockSecret(passphrase: SecretBytes(text: passphrase))))
    }

    @Test("a rotation keeps the sums of an intact store, and later changes continue them")
    func intact() throws {
        let fixture = try DigestFixture()
        for number in 0..<300 { try fixture.add("\(number)") }
        let before = try fixture.header
        try rotate(fixture, "correct", to: "new")
        #expect(try fixture.header.sums == fixture.sums())
        #expect(try fixture.header.sums.rows.count == before.sums.rows.count)
        #expect(try fixture.header.sums.rows != before.sums.rows)
        try fixture.add("later")
        #expect(try fixture.header.sums == fixture.sums() && fixture.keychain.verifyNow().isConsistent)
    }

    @Test("damage of rows does not prevent a rotation, and stays detected")
    func damaged() throws {
        for remove in [false, true] {
            let fixture = try DigestFixture()
            let item = try fixture.add("a")
            try fixture.add("b")
            var records = fixture.keyRingFixture.store.records
            if remove {
                records.deleteItem(item.id)
            } else {
                var row = try #require(records.itemRecords[item.id])
                row.metadata.ciphertext[0] ^= 1
                try records.put(row, secret: nil)
            }
            fixture.keyRingFixture.store.records = records
            let fault = try fixture.keychain.verifyNow().rows
            #expect(fault == (remove ? .rowsMissing(1) : .rowsReplaced))
            try rotate(fixture, "correct", to: "new")
            #expect(try fixture.keychain.verifyNow().rows == fault)
            try rotate(fixture, "new", to: "newer")
            #expect(try fixture.keychain.verifyNow().rows == fault)
        }
    }

    @Test("a verification in progress begins again with the new keys")
    func duringVerification() throws {
        let fixture = try DigestFixture()
        for number in 0..<20 { try fixture.add("\(number)") }
        let scan = IntegrityScan(fixture.keyRingFixture.store, ledger: fixture.keyRingFixture.ring.ledger, pageSize: 4)
        for _ in 0..<4 { _ = try scan.step() }
        try rotate(fixture, "correct", to: "new")
        try fixture.add("later")
        #expect(try scan.run() == nil)
    }
}

@Suite("S3: keys before and after the first unlock")
struct FirstUnlockTests {
    @Test("class keys that a thief of the device key planted for the start are not used after the first unlock")
    func plantedBefore() throws {
        let fixture = try KeyRingFixture()
        let row = try fixture.add(.sample(.always), [1])
        let intact = fixture.store.records
        var planted = intact
        let keys = try WrappingKeys(device: KeyRingFixture.device(), store: fixture.ring.storeID)
        for purpose in [KeyPurpose.protection(.always), .protection(.alwaysThisDeviceOnly)] {
            let material = try SecretBytes(randomCount: purpose.materialCount)
            planted.classKeyRecords.append(
                try keys.wrap(material, purpose: purpose, generation: 2, device: 1, wrapping: .deviceKey))
        }
        let start = try KeyRingFixture(copying: planted, commitsKeys: false)
        let evil = try start.ring.keys(for: .protection(.always), generation: 2)
        #expect(evil.isAvailable)
        let own = try start.ring.keys(for: .protection(.always), generation: 1)
        #expect(throws: KeychainFault.decode) { try start.unlock() }
        // The file is put back before the unlock.
        start.store.records = intact
        try start.unlock()
        #expect(!evil.isAvailable && own.isAvailable)
        for protection in [ProtectionClass.always, .alwaysThisDeviceOnly] {
            #expect(try start.ring.currentKeys(for: protection).generation == 1)
            #expect(throws: KeychainFault.decode) { try start.ring.keys(for: .protection(protection), generation: 2) }
        }
        #expect(try start.contents(row) == [1])
    }

    @Test("S2: a store that was replaced while locked is refused by later unlocks until it is opened again")
    func replaced() throws {
        let fixture = try DigestFixture()
        try fixture.add("a")
        let older = fixture.keyRingFixture.store.records
        try fixture.add("b")
        let newer = fixture.keyRingFixture.store.records
        fixture.keychain.lock()
        fixture.keyRingFixture.store.records = older
        #expect(throws: KeychainFault.decode) { try fixture.keyRingFixture.unlock() }
        #expect(fixture.keyRingFixture.ring.state == .locked)
        fixture.keyRingFixture.store.records = newer
        #expect(throws: KeychainFault.decode) { try fixture.keyRingFixture.unlock() }
        try KeyRing(store: fixture.keyRingFixture.store, device: KeyRingFixture.device())
            .unlock(passphrase: SecretBytes(text: "correct"))
    }
}
