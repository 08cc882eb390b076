import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

@Suite("M20: the keys of a repaired keychain")
struct RepairedKeyTests {
    /// Repairs a store, and returns the rows of the repaired one.
    private func repaired(_ records: InMemoryRecords) throws -> InMemoryRecords {
        let store = InMemoryRecordStore(records)
        let keys = try KeyRing(store: store, device: KeyRingFixture.device(), isExamination: true)
        let root = try keys.root(of: UnlockSecret(passphrase: SecretBytes(text: "correct")))
        try keys.unlock(root: root)
        let repair = KeychainRepair(of: store, keys: keys)
        let copy = InMemoryRecordStore()
        try repair.write(repair.findings(file: .sample, now: .sample), to: copy)
        try repair.rotateKeys(of: copy, root: root)
        return copy.records
    }

    @Test(
        "M20: keys that a thief of the device key planted are replaced by those that the user key wraps",
        arguments: [KeyPurpose.protection(.always), .alwaysLookup])
    func planted(_ purpose: KeyPurpose) throws {
        let fixture = try DigestFixture()
        let item = try fixture.add("alice", .always)
        var records = fixture.keyRingFixture.store.records
        let keys = try WrappingKeys(device: KeyRingFixture.device(), store: fixture.keyRingFixture.ring.storeID)
        let index = try #require(
            records.classKeyRecords.firstIndex { $0.purpose == purpose && $0.wrapping == .deviceKey })
        records.classKeyRecords[index] = try keys.wrap(
            SecretBytes(randomCount: purpose.materialCount), purpose: purpose, generation: 1, device: 1,
            wrapping: .deviceKey)
        for damaged in [false, true] {
            if damaged { records.classKeyRecords[index].keys.ciphertext[0] ^= 1 }
            let copy = try repaired(records)
            let cold = try KeyRingFixture(copying: copy, commitsKeys: false)
            // Before the first unlock the device key opens them.
            let row = try #require(copy.itemRecords[item.id])
            #expect(try cold.items.open(row).account == item.account)
            try cold.unlock()
            #expect(try cold.contents(row) == [1, 2, 3])
        }
    }

    @Test("S2: a repaired keychain has a new mark of this device, and those of other devices")
    func mark() throws {
        let devices = try TwoDevices()
        try devices.session(1, changes: 2)
        devices.copy(from: 1, to: 0)
        try devices.session(0, changes: 1)
        let seen = try devices.commit(0)
        let copy = try repaired(devices.stores[0].records)
        #expect(try #require(copy.deviceRecords[1]).mark.commit > seen)
        #expect(copy.deviceRecords[2]?.mark == devices.stores[0].records.deviceRecords[2]?.mark)
        // Although the device could not note the repair.
        devices.stores[0].records = copy
        #expect(try devices.refusal(0) == nil)
    }

    @Test("M20: all class keys have a newer generation, and the slot with a damaged recipient stays")
    func generations() throws {
        let fixture = try DigestFixture()
        var records = fixture.keyRingFixture.store.records
        records.slotRecords[1]?.recipient.ciphertext[0] ^= 1
        let copy = try repaired(records)
        let safe = try KeyRingFixture(copying: copy, commitsKeys: false)
        try safe.unlock()
        for protection in ProtectionClass.allCases where protection != .whenPasscodeSetThisDeviceOnly {
            #expect(try safe.ring.currentKeys(for: protection).generation == 2, "\(protection)")
        }
    }
}
