import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

@Suite("M14, M20: past values in rotations, rekeys, backups and repairs")
struct PastKeyTests {
    private let fixture: DigestFixture
    private let items: [RowID: Item]
    private let later = [LaterField(tag: 128, value: []), LaterField(tag: 255, value: [1, 2])]
    private var records: InMemoryRecords { fixture.keyRingFixture.store.records }

    init() throws {
        fixture = try DigestFixture()
        var items: [RowID: Item] = [:]
        for protection in ProtectionClass.allCases {
            let item = try fixture.add("\(protection)", protection)
            items[try fixture.keychain.makePast(item.id, later: later)] = item
        }
        self.items = items
    }

    private func expect(
        _ keychain: KeychainStore, except: Set<RowID> = [], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for (id, item) in items where !except.contains(id) {
            let found = try #require(try keychain.past(id), sourceLocation: sourceLocation)
            #expect(found.item == item && found.info.laterFields == later, sourceLocation: sourceLocation)
            #expect(try found.secret?.all() == [1, 2, 3], sourceLocation: sourceLocation)
        }
    }

    @Test("M14, A1: a rekey reseals past values; the former past key and class keys open none of them")
    func rekeyed() throws {
        let safe = try RekeyFixture(records)
        let bytes = try fixture.header.past.bytes
        try safe.start()
        try expect(safe.keychain)
        try safe.keychain.rekey()
        try safe.expectRekeyed()
        try expect(safe.keychain)
        try expect(safe.reopened().keychain)
        for (id, row) in safe.store.records.pastRecords {
            let old = try #require(records.pastRecords[id])
            #expect(row.masterKeyGeneration == 2 && row.generation == 2 && row.tag == old.tag)
            #expect(row.info.nonceAndTag != old.info.nonceAndTag && row.metadata != old.metadata)
            #expect(row.secretSeals != old.secretSeals)
            #expect(throws: KeychainFault.decode) { try safe.keychain.pastEnvelope.open(old) }
        }
        let header = try safe.keychain.keys.header(of: #require(safe.store.records.storeRecord))
        #expect(header.past.bytes == bytes)
        #expect(try safe.keychain.check().isConsistent)
    }

    @Test("M14: a damaged past value is not changed, keeps its class keys, and does not prevent the end of a rekey")
    func damaged() throws {
        let id = try #require(items.first { $0.value.protection == .whenUnlocked }?.key)
        let safe = try RekeyFixture(records)
        safe.store.records.pastRecords[id]?.metadata[0] ^= 1
        let row = safe.store.records.pastRecords[id]
        #expect(try safe.start() == .differs)
        try safe.start(acceptingDifferences: true)
        try safe.keychain.rekey()
        #expect(safe.keychain.rekeyProgress.phase == .finished && safe.sets == 1)
        #expect(safe.store.records.pastRecords[id] == row)
        let kept = Set(safe.store.records.classKeyRecords.filter { $0.generation == 1 }.map(\.purpose))
        #expect(kept == [.protection(.whenUnlocked), .alwaysLookup])
        try expect(safe.keychain, except: [id])
        #expect(try safe.keychain.verifyNow().rows == .rowsReplaced)
    }

    @Test("S2: a check finds exchanged contents of items and past values that are locked or of another device")
    func withoutKeys() throws {
        let item = try fixture.add("present", .whenUnlockedThisDeviceOnly)
        let past = try #require(items.first { $0.value.protection == .whenUnlockedThisDeviceOnly }?.key)
        let locked = try RekeyFixture(records)
        locked.keychain.lock()
        for safe in [locked, try RekeyFixture(records, device: 2)] {
            let good = safe.store.records
            let before = try safe.keychain.check()
            #expect(before.isConsistent && before.unavailable + before.foreign > 0)
            for id in [item.id, past] {
                safe.store.records.secrets[id]?[0] ^= 1
                let report = try safe.keychain.check()
                #expect(report.damagedItems == (id == past ? [] : [id]))
                #expect(report.damagedPast == (id == past ? [id] : []))
                safe.store.records = good
            }
        }
    }

    @Test("M14: a rekey renews the info of another device's past values, and the MAC of Always ones")
    func otherDevice() throws {
        let safe = try RekeyFixture(records, device: 2)
        try safe.start()
        try safe.keychain.rekey()
        #expect(safe.keychain.rekeyProgress.phase == .finished && safe.sets == 1)
        for (id, row) in safe.store.records.pastRecords {
            let old = try #require(records.pastRecords[id])
            let info = try safe.keychain.pastEnvelope.open(row)
            #expect(row.masterKeyGeneration == 2)
            #expect((row.metadata == old.metadata) == row.protection.isThisDeviceOnly)
            #expect((info.origin.mac != nil) == (row.protection.availability == .always))
            #expect(info.origin.masterKeyGeneration == (info.origin.mac == nil ? nil : 2))
        }
        #expect(try safe.keychain.check().isConsistent)
        try expect(safe.reopened().keychain)
    }

    @Test("M12: a rotation carries a difference of past rows and item keys over")
    func rotation() throws {
        let safe = try RekeyFixture(records)
        func rotate() throws {
            let userKey = try safe.keychain.keys.userKey(passphrase: SecretBytes(text: "correct"))
            _ = try safe.keychain.keys.renewKeys(userKey: userKey)
        }
        try rotate()
        #expect(try safe.keychain.verifyNow().rows == nil)
        let id = try #require(items.keys.first)
        safe.store.records.pastRecords[id]?.tag[0] ^= 1
        safe.store.records.itemKeys[.init(item: RowID(rawValue: 1), kind: 1)] = [UInt8](repeating: 1, count: 16)
        try rotate()
        #expect(try safe.keychain.verifyNow().rows == .rowsAdded(1))
        safe.store.records.itemKeys = [:]
        #expect(try safe.keychain.verifyNow().rows == .rowsReplaced)
        // The difference is one of digests under the former key, so it stays.
        safe.store.records.pastRecords[id]?.tag[0] ^= 1
        #expect(try safe.keychain.verifyNow().rows == .rowsReplaced)
    }

    @Test(
        "M20: a backup has the past values of all classes but WhenPasscodeSetThisDeviceOnly, or none",
        arguments: [false, true])
    func backup(_ withoutPast: Bool) throws {
        let copy = InMemoryRecordStore(records)
        let contents = try copy.write { (writer) throws(KeychainFault) in
            try fixture.keychain.prepareBackup(writer, withoutPast: withoutPast)
        }
        let left = Set(copy.records.pastRecords.values.map(\.protection))
        #expect(
            left == (withoutPast ? [] : Set(ProtectionClass.allCases).subtracting([.whenPasscodeSetThisDeviceOnly])))
        #expect(contents.pastLeftOut == items.count - left.count)
        let ring = fixture.keyRingFixture.ring
        let header = try ring.header(of: #require(copy.records.storeRecord))
        #expect(try copy.records.sums(ring.ledger.digest()) == header.sums)
        #expect(header.past.bytes == (try copy.read { (reader) throws(KeychainFault) in try reader.pastBytes() }))
        #expect(try header.commit == fixture.header.commit - 1)
    }

    @Test(
        "M20: a repair copies the past values that verify, and counts their bytes; without a header it takes their time"
    )
    func repaired() throws {
        let id = try #require(items.first { $0.value.protection == .always }?.key)
        var damaged = records
        damaged.secrets[id]?[0] ^= 1
        for hasHeader in [true, false] {
            if !hasHeader { damaged.storeRecord?.header.ciphertext[0] ^= 1 }
            let store = InMemoryRecordStore(damaged)
            let keys = try KeyRing(store: store, device: KeyRingFixture.device(), isExamination: true)
            let root = try keys.root(of: UnlockSecret(passphrase: SecretBytes(text: "correct")))
            try keys.unlock(root: root, acceptingRollback: true)
            let repair = KeychainRepair(of: store, keys: keys)
            let findings = try repair.findings(file: .sample, now: .sample)
            #expect(findings.damagedPast == [id] && findings.pastValues == items.count - 1 && !findings.isConsistent)
            #expect(findings.missingRows == 0 && findings.addedRows == 0)
            let copy = InMemoryRecordStore()
            try repair.write(findings, to: copy)
            try repair.rotateKeys(of: copy, root: root)
            let safe = try KeyRingFixture(copying: copy.records, commitsKeys: false)
            try safe.unlock()
            let keychain = KeychainStore(store: safe.store, keys: safe.ring) { .sample }
            try expect(keychain, except: [id])
            #expect(try keychain.past(id) == nil)
            #expect(try keychain.check().isConsistent)
            let header = try safe.ring.header(of: #require(safe.store.records.storeRecord))
            #expect(
                header.past.bytes == (try safe.store.read { (reader) throws(KeychainFault) in try reader.pastBytes() }))
            if !hasHeader { #expect(header.storeTime == 7) }
        }
    }

    @Test("R56, R59: a wrong number of bytes, and a row number that is not below the next one, are reported")
    func counters() throws {
        let safe = try RekeyFixture(records)
        let ring = safe.keychain.keys
        func report(_ change: (inout StoreHeader) -> Void) throws -> CheckReport {
            let good = safe.store.records
            defer { safe.store.records = good }
            let record = try #require(good.storeRecord)
            var header = try ring.header(of: record)
            change(&header)
            safe.store.records.storeRecord?.header = try ring.ledger.digest().sealed(header, for: record)
            return try safe.keychain.check()
        }
        #expect(try report { _ in }.isConsistent)
        let bytes = try report { $0.past.bytes += 1 }
        #expect(bytes.arePastBytesWrong && !bytes.isConsistent)
        let last = try #require(items.keys.max())
        let counter = try report { $0.nextRow = last }
        #expect(counter.structureFaults == 1 && !counter.isConsistent)
    }
}
