import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

/// A user key that one device has rotated, and the state for another device at its next unlock.
@Suite("rotated user keys")
struct RotationTests {
    private let bound: [ProtectionClass] = [
        .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .whenPasscodeSetThisDeviceOnly,
    ]

    /// A store that devices 1 and 2 have unlocked, with an item of the second device per bound class; then rotated on the
    /// first.
    private func rotated() throws -> (records: InMemoryRecords, rows: [ProtectionClass: ItemRecord]) {
        let first = try KeyRingFixture()
        let second = try KeyRingFixture(copying: first.store.records, device: 2)
        try second.unlock()
        var rows: [ProtectionClass: ItemRecord] = [:]
        for protection in bound + [.whenUnlocked, .always] {
            let item = Item.sample(protection, id: 10 + Int64(protection.rawValue), account: protection.code)
            rows[protection] = try second.add(item, [protection.rawValue])
        }
        var rotation = try Rotation(of: second.store.records, device: KeyRingFixture.device(1))
        try rotation.rotate()
        return (rotation.records, rows)
    }

    @Test("S3: a device renews its own keys at the next unlock; its items open, then and ever after")
    func renewal() throws {
        let (records, rows) = try rotated()
        let device = try KeyRingFixture(copying: records, device: 2)
        try device.unlock()
        for (protection, row) in rows { #expect(try device.contents(row) == [protection.rawValue]) }
        let own = device.store.records.classKeyRecords.filter { $0.wrapping == .userAndDeviceKey && $0.device == 2 }
        #expect(own.count == bound.count && own.allSatisfy { $0.userKeyGeneration == 2 })
        var later = device.store.records
        later.userKeyRecords = [:]
        let again = try KeyRingFixture(copying: later, device: 2)
        try again.unlock()
        for (protection, row) in rows { #expect(try again.contents(row) == [protection.rawValue]) }
    }

    @Test("S3: a store that takes no changes opens too")
    func readOnly() throws {
        let (records, rows) = try rotated()
        let device = try KeyRingFixture(copying: records, device: 2, isReadOnly: true)
        try device.unlock()
        for (protection, row) in rows { #expect(try device.contents(row) == [protection.rawValue]) }
    }

    @Test(
        "S3, S4: without the past user key, or with a damaged one, only what needs it is lost",
        arguments: [true, false])
    func lost(isDamaged: Bool) throws {
        var (records, rows) = try rotated()
        if isDamaged {
            let key = try #require(records.userKeyRecords[1]).key
            records.userKeyRecords[1]?.key = Sealed(nonceAndTag: key.nonceAndTag, ciphertext: key.ciphertext.flipped(0))
        } else {
            records.userKeyRecords = [:]
        }
        let device = try KeyRingFixture(copying: records, device: 2)
        try device.unlock()
        for (protection, row) in rows {
            if bound.contains(protection) {
                #expect(throws: KeychainFault.decode) { try device.items.open(row) }
            } else {
                #expect(try device.contents(row) == [protection.rawValue])
            }
        }
    }

    @Test("S3: a holder of a former user key cannot plant a class key with it")
    func planted() throws {
        var (records, _) = try rotated()
        let store = try #require(records.storeRecord)
        let present = try Rotation.userKey(of: records)
        let sealed = try #require(records.userKeyRecords[1])
        let past = try sealed.userKey(openedBy: present, present: 2, store: store.identifier)
        let evil = try WrappingKeys(
            user: past, generation: 1, device: KeyRingFixture.device(9), store: store.identifier)
        let purpose = KeyPurpose.protection(.whenUnlocked)
        let material = try SecretBytes(randomCount: purpose.materialCount)
        records.classKeyRecords += try evil.records(of: material, purpose, generation: 2, device: 0)
        let device = try KeyRingFixture(copying: records, device: 2)
        try device.unlock()
        #expect(throws: KeychainFault.decode) { try device.ring.currentKeys(for: .whenUnlocked) }
    }

    @Test("S3: a past user key is bound to its store, its generation and the present one")
    func binding() throws {
        let past = try SecretBytes(randomCount: 32)
        let present = try SecretBytes(randomCount: 32)
        let store = [UInt8](repeating: 3, count: 16)
        var record = try UserKeyRecord(sealing: past, generation: 1, under: present, present: 3, store: store)
        let isSame = try record.userKey(openedBy: present, present: 3, store: store).isEqual(to: past)
        #expect(isSame)
        let other = [UInt8](repeating: 4, count: 16)
        #expect(throws: CryptoError.authenticationFailed) {
            _ = try record.userKey(openedBy: present, present: 2, store: store).count
        }
        #expect(throws: CryptoError.authenticationFailed) {
            _ = try record.userKey(openedBy: present, present: 3, store: other).count
        }
        #expect(throws: CryptoError.authenticationFailed) {
            _ = try record.userKey(openedBy: past, present: 3, store: store).count
        }
        record.generation = 2
        #expect(throws: CryptoError.authenticationFailed) {
            _ = try record.userKey(openedBy: present, present: 3, store: store).count
        }
    }
}

/// The changes of `slot remove` to a user key, on one device.
private struct Rotation: ~Copyable {
    private(set) var records: InMemoryRecords
    private let device: SecretBytes

    init(of records: InMemoryRecords, device: consuming SecretBytes) {
        self.records = records
        self.device = device
    }

    static func userKey(of records: InMemoryRecords) throws -> SecretBytes {
        let store = try #require(records.storeRecord)
        let root = try SlotUnlock.root(passphrase: SecretBytes(text: "correct"), store: store)
        return try SlotUnlock.userKey(
            root: root, kind: .passphrase, slots: Array(records.slotRecords.values), store: store)
    }

    mutating func rotate() throws {
        let old = try Self.userKey(of: records)
        let fresh = try SecretBytes(randomCount: 32)
        var store = try #require(records.storeRecord)
        let slot = try #require(records.slotRecords[1])
        let place = SlotAddress(store: store.identifier, id: 1, kind: .passphrase, userKeyGeneration: 2)
        records.slotRecords[1] = try SlotRecord(
            wrapping: fresh, for: slot.recipient(userKey: old, store: store.identifier), at: place)
        records.userKeyRecords[1] = try UserKeyRecord(
            sealing: old, generation: 1, under: fresh, present: 2, store: store.identifier)
        try rewrapClassKeys(old, fresh, store.identifier)
        let material = try MasterKeyMaterial(opening: store, userKey: old)
        store.userKeyGeneration = 2
        try material.seal(into: &store, userKey: fresh)
        records.storeRecord = store
        let former = try HeaderKeys(userKey: old, generation: 1, store: store.identifier)
        let keys = try HeaderKeys(userKey: fresh, generation: 2, store: store.identifier)
        var header = try StoreHeader(opening: store, keys: former)
        header.sums = try records.sums(RowDigest(keys))
        records.storeRecord?.header = try header.sealed(by: keys, store: store.identifier)
    }

    /// Rewraps all class keys except those wrapped with another device's key.
    private mutating func rewrapClassKeys(
        _ old: borrowing SecretBytes, _ fresh: borrowing SecretBytes, _ store: [UInt8]
    ) throws {
        let oldKeys = try WrappingKeys(user: old, generation: 1, device: device, store: store)
        let newKeys = try WrappingKeys(user: fresh, generation: 2, device: device, store: store)
        for (index, record) in records.classKeyRecords.enumerated() where record.userKeyGeneration == 1 {
            guard record.device < 2 else { continue }
            records.classKeyRecords[index] = try newKeys.rewrap(record, openedBy: oldKeys)
        }
    }
}
