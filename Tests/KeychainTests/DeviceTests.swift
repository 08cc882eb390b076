import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

@Suite("devices and generations")
struct DeviceTests {
    private let bound: [ProtectionClass] = [
        .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly,
        .whenPasscodeSetThisDeviceOnly,
    ]

    private func filled() throws -> (KeyRingFixture, [ProtectionClass: ItemRecord]) {
        let fixture = try KeyRingFixture()
        var rows: [ProtectionClass: ItemRecord] = [:]
        for protection in ProtectionClass.allCases {
            let item = Item.sample(protection, id: 10 + Int64(protection.rawValue), account: protection.code)
            rows[protection] = try fixture.add(item, [protection.rawValue])
        }
        return (fixture, rows)
    }

    @Test("Always items are read with the device key alone, before the first unlock; others are not")
    func alwaysCold() throws {
        let (first, rows) = try filled()
        let cold = try KeyRingFixture(copying: first.store.records)
        for (protection, record) in rows {
            if protection.availability == .always {
                #expect(try cold.contents(record) == [protection.rawValue])
            } else {
                #expect(throws: KeychainFault.interactionNotAllowed) { try cold.items.open(record) }
            }
        }
    }

    @Test("L6: another device sees ThisDeviceOnly items as not available, everything else after its first unlock")
    func copiedAway() throws {
        let (first, rows) = try filled()
        let second = try KeyRingFixture(copying: first.store.records, device: 2)
        #expect(throws: KeychainFault.interactionNotAllowed) { try second.ring.alwaysTag(parts: []) }
        for record in rows.values {
            #expect(throws: KeychainFault.interactionNotAllowed) { try second.items.open(record) }
        }
        try second.unlock()
        for (protection, record) in rows {
            #expect(second.ring.isForeign(protection, generation: 1) == protection.isThisDeviceOnly)
            if protection.isThisDeviceOnly {
                #expect(throws: KeychainFault.interactionNotAllowed) { try second.items.open(record) }
            } else {
                #expect(try second.contents(record) == [protection.rawValue])
            }
        }
    }

    @Test("S3: the second device gets separate keys; both keep working concurrently")
    func bothContinue() throws {
        let (first, rows) = try filled()
        let second = try KeyRingFixture(copying: first.store.records, device: 2)
        try second.unlock()
        var own: [ProtectionClass: ItemRecord] = [:]
        for protection in bound {
            let item = Item.sample(protection, id: 50 + Int64(protection.rawValue), account: "2" + protection.code)
            own[protection] = try second.add(item, [99])
            #expect(own[protection]?.generation == 2)
        }
        #expect(second.store.records.deviceRecords.count == 2)
        // The first device, with the file that the second one has written to.
        let back = try KeyRingFixture(copying: second.store.records)
        try back.unlock()
        for (protection, record) in rows { #expect(try back.contents(record) == [protection.rawValue]) }
        for record in own.values {
            #expect(throws: KeychainFault.interactionNotAllowed) { try back.items.open(record) }
        }
        for protection in bound { #expect(try back.ring.currentKeys(for: protection).generation == 1) }
        // The second one, from cold: Always of both kinds without a passphrase.
        let again = try KeyRingFixture(copying: back.store.records, device: 2)
        #expect(try again.contents(#require(rows[.always])) == [ProtectionClass.always.rawValue])
        #expect(try again.contents(#require(own[.alwaysThisDeviceOnly])) == [99])
        #expect(try again.ring.alwaysTag(parts: [[1]]) == first.ring.alwaysTag(parts: [[1]]))
        try again.unlock()
        #expect(back.store.writeCount == 0 && again.store.writeCount == 0)
    }

    @Test("a new device on a read-only store works without separate keys")
    func readOnly() throws {
        let (first, rows) = try filled()
        let second = try KeyRingFixture(copying: first.store.records, device: 2, isReadOnly: true)
        try second.unlock()
        #expect(try second.contents(#require(rows[.whenUnlocked])) == [ProtectionClass.whenUnlocked.rawValue])
        #expect(try second.contents(#require(rows[.always])) == [ProtectionClass.always.rawValue])
        for protection in bound {
            #expect(!second.ring.isAvailable(protection))
            #expect(throws: KeychainFault.interactionNotAllowed) { try second.ring.currentKeys(for: protection) }
        }
    }

    @Test("a full disk does not keep a new device out; another failure does, and leaves it locked")
    func failingWrite() throws {
        let (first, _) = try filled()
        let full = try KeyRingFixture(copying: first.store.records, device: 2)
        full.store.failNextWrite(with: .diskFull)
        try full.unlock()
        #expect(full.ring.state == .unlocked && full.store.records.deviceRecords.count == 1)
        let broken = try KeyRingFixture(copying: first.store.records, device: 3)
        broken.store.failNextWrite(with: .io(10))
        #expect(throws: KeychainFault.io(10)) { try broken.unlock() }
        #expect(broken.ring.state == .beforeFirstUnlock && broken.store.records.deviceRecords.count == 1)
    }

    @Test("S4: if a row of a key cannot be read, the unlock is refused and no device is enrolled")
    func damagedRow() throws {
        let (first, rows) = try filled()
        var records = first.store.records
        let purpose = KeyPurpose.protection(.whenUnlockedThisDeviceOnly)
        let lost = try #require(records.classKeyRecords.firstIndex { $0.purpose == purpose })
        let record = records.classKeyRecords.remove(at: lost)
        records.damagedKeyCount = 1
        let again = try KeyRingFixture(copying: records)
        #expect(throws: KeychainFault.decode) { try again.unlock() }
        // A device that is new to the store is not entered either.
        let other = try KeyRingFixture(copying: records, device: 2)
        #expect(throws: KeychainFault.decode) { try other.unlock() }
        #expect(other.store.records.deviceRecords.count == 1 && other.store.writeCount == 0)
        // An examination opens the rest.
        let row = try #require(rows[.whenUnlockedThisDeviceOnly])
        let examined = try KeyRing(
            store: InMemoryRecordStore(records), device: KeyRingFixture.device(), isExamination: true)
        try examined.unlock(passphrase: SecretBytes(text: "correct"))
        #expect(throws: KeychainFault.decode) { try ItemEnvelope(ring: examined).open(row) }
        _ = try ItemEnvelope(ring: examined).open(#require(rows[.whenUnlocked]))
        // When it is restored, the row opens as before.
        records.classKeyRecords.append(record)
        records.damagedKeyCount = 0
        let mended = try KeyRingFixture(copying: records)
        try mended.unlock()
        #expect(try mended.contents(row) == [ProtectionClass.whenUnlockedThisDeviceOnly.rawValue])
    }

    @Test("S3: numbers that no program would reach are not a generation or a device")
    func hugeNumbers() throws {
        let (first, _) = try filled()
        var records = first.store.records
        let purpose = KeyPurpose.protection(.whenUnlockedThisDeviceOnly)
        var planted = try #require(records.classKeyRecords.first { $0.purpose == purpose })
        (planted.generation, planted.device) = (.max, .max)
        records.classKeyRecords.append(planted)
        let other = try KeyRingFixture(copying: records, device: 2)
        try other.unlock()
        #expect(other.store.records.deviceRecords.keys.sorted() == [1, 2])
        let own = other.store.records.classKeyRecords.filter { $0.purpose == purpose && $0.device == 2 }
        #expect(own.map(\.generation) == [2])
    }

    /// Adds a generation as a removal of a slot does, with the internal API.
    private func addGeneration(_ purpose: KeyPurpose, to records: inout InMemoryRecords, device: UInt8) throws {
        let store = try #require(records.storeRecord)
        let root = try SlotUnlock.root(passphrase: SecretBytes(text: "correct"), store: store)
        let userKey = try SlotUnlock.userKey(
            root: root, kind: .passphrase, slots: Array(records.slotRecords.values), store: store)
        let keys = try WrappingKeys(
            user: userKey, generation: 1, device: KeyRingFixture.device(device), store: store.identifier)
        let material = try SecretBytes(randomCount: purpose.materialCount)
        records.classKeyRecords += try keys.records(of: material, purpose, generation: 2, device: Int64(device))
    }

    @Test("S3: a new generation seals what is new, opens for all, and reaches another device at its next unlock")
    func newGeneration() throws {
        let (first, rows) = try filled()
        let second = try KeyRingFixture(copying: first.store.records, device: 2)
        try second.unlock()
        var records = second.store.records
        for purpose in [KeyPurpose.protection(.always), .protection(.whenUnlocked)] {
            try addGeneration(purpose, to: &records, device: 1)
        }
        let onFirst = try KeyRingFixture(copying: records)
        try onFirst.unlock()
        let fresh = try onFirst.add(.sample(.always, id: 90, account: "new"), [7])
        #expect(fresh.generation == 2)
        #expect(try onFirst.add(.sample(id: 91, account: "newer"), [8]).generation == 2)
        #expect(try onFirst.contents(#require(rows[.whenUnlocked])) == [ProtectionClass.whenUnlocked.rawValue])
        let cold = try KeyRingFixture(copying: onFirst.store.records, device: 2)
        #expect(throws: KeychainFault.interactionNotAllowed) { try cold.items.open(fresh) }
        try cold.unlock()
        #expect(try cold.contents(fresh) == [7])
        #expect(try KeyRingFixture(copying: cold.store.records, device: 2).contents(fresh) == [7])
    }

    @Test("S3: a holder of the device key cannot plant class keys: each class has its own wrapping")
    func plantedGeneration() throws {
        let (first, rows) = try filled()
        var records = first.store.records
        let keys = try WrappingKeys(device: KeyRingFixture.device(), store: first.ring.storeID)
        for protection in ProtectionClass.allCases where protection.availability != .always {
            let purpose = KeyPurpose.protection(protection)
            let material = try SecretBytes(randomCount: purpose.materialCount)
            records.classKeyRecords.append(
                try keys.wrap(material, purpose: purpose, generation: 2, device: 1, wrapping: .deviceKey))
        }
        let fixture = try KeyRingFixture(copying: records)
        #expect(!fixture.ring.isAvailable(.whenUnlocked))
        try fixture.unlock()
        for protection in ProtectionClass.allCases {
            #expect(try fixture.ring.currentKeys(for: protection).generation == 1)
        }
        #expect(try fixture.contents(#require(rows[.whenUnlocked])) == [ProtectionClass.whenUnlocked.rawValue])
    }

    @Test("WhenPasscodeSetThisDeviceOnly is unusable while there is no passphrase slot")
    func noPassphrase() throws {
        let (first, rows) = try filled()
        var records = first.store.records
        let store = try #require(records.storeRecord)
        let root = try SlotUnlock.root(passphrase: SecretBytes(text: "correct"), store: store)
        let userKey = try SlotUnlock.userKey(
            root: root, kind: .passphrase, slots: Array(records.slotRecords.values), store: store)
        let recovery = try SecretBytes(randomCount: 32)
        let secret = try SlotSecret(root: recovery, store: store.identifier, slot: 2)
        let place = SlotAddress(store: store.identifier, id: 2, kind: .recoveryKey, userKeyGeneration: 1)
        records.slotRecords = [2: try SlotRecord(wrapping: userKey, for: secret.recipient(), at: place)]
        let fixture = try KeyRingFixture(copying: records.withCommittedKeys(userKey: userKey), commitsKeys: false)
        let stored = try fixture.store.read { (reader) throws(KeychainFault) in try KeySnapshot(reader) }
        try fixture.ring.unlock(root: recovery, kind: .recoveryKey, records: stored)
        #expect(fixture.ring.state == .unlocked)
        #expect(!fixture.ring.isAvailable(.whenPasscodeSetThisDeviceOnly))
        #expect(throws: KeychainFault.interactionNotAllowed) {
            try fixture.items.open(#require(rows[.whenPasscodeSetThisDeviceOnly]))
        }
        #expect(try fixture.contents(#require(rows[.whenUnlockedThisDeviceOnly])) == [9])
        #expect(fixture.store.writeCount == 0)
    }
}
