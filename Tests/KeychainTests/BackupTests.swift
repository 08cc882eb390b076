import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

@Suite("what a backup holds")
struct BackupTests {
    private let fixture: KeyRingFixture
    private let keychain: KeychainStore

    init() throws {
        let fixture = try KeyRingFixture()
        self.fixture = fixture
        for protection in ProtectionClass.allCases {
            try fixture.add(
                Item.sample(protection, id: 100 + Int64(protection.rawValue), account: protection.code), [1])
        }
        keychain = KeychainStore(store: fixture.store, keys: fixture.ring) { KeychainDate(seconds: 1) }
    }

    @Test("WhenPasscodeSetThisDeviceOnly items and their class keys are in no backup; all others are")
    func contents() throws {
        let copy = InMemoryRecordStore(fixture.store.records)
        let contents = try copy.write { writer throws(KeychainFault) in try keychain.prepareBackup(writer) }
        #expect(contents.items == ProtectionClass.allCases.count - 1 && contents.leftOut == 1)
        let left = Set(copy.records.itemRecords.values.map(\.protection))
        #expect(left == Set(ProtectionClass.allCases).subtracting([.whenPasscodeSetThisDeviceOnly]))
        let purposes = Set(copy.records.classKeyRecords.map(\.purpose))
        #expect(purposes == Set(KeyPurpose.all).subtracting([.protection(.whenPasscodeSetThisDeviceOnly)]))
        #expect(
            fixture.store.records.itemRecords.count == ProtectionClass.allCases.count, "the store itself is as it was")
        #expect(
            fixture.store.records.classKeyRecords.contains { $0.purpose == .protection(.whenPasscodeSetThisDeviceOnly) }
        )
    }

    /// A store whose every row has come through the ledger.
    private func committed(_ protections: [ProtectionClass]) throws -> (KeyRingFixture, KeychainStore) {
        let fixture = try KeyRingFixture()
        let keychain = KeychainStore(store: fixture.store, keys: fixture.ring) { KeychainDate(seconds: 1) }
        for (number, protection) in protections.enumerated() {
            _ = try keychain.change { change throws(KeychainFault) in
                try change.save(Item.sample(protection, id: 200 + Int64(number), account: "\(number)"))
            }
        }
        return (fixture, keychain)
    }

    @Test(
        "S2: the header of a backup matches its rows; a backup without some items counts as older than the store",
        arguments: [
            [ProtectionClass.whenUnlocked, .always],
            [.whenUnlocked, .whenPasscodeSetThisDeviceOnly, .always, .whenPasscodeSetThisDeviceOnly],
        ])
    func header(_ protections: [ProtectionClass]) throws {
        let (fixture, keychain) = try committed(protections)
        let copy = InMemoryRecordStore(fixture.store.records)
        let contents = try copy.write { writer throws(KeychainFault) in try keychain.prepareBackup(writer) }
        let old = try fixture.ring.header(of: #require(fixture.store.records.storeRecord))
        let record = try #require(copy.records.storeRecord)
        let new = try fixture.ring.header(of: record)
        #expect(try copy.records.sums(fixture.ring.ledger.digest()) == new.sums)
        #expect(new.sums != old.sums)
        #expect(new.commit == (contents.leftOut > 0 ? old.commit - 1 : old.commit))
        #expect(contents.commitNumber == new.commit)
        #expect((new.commitID == old.commitID) == (contents.leftOut == 0))
        #expect(new.nextRow == old.nextRow, "the number of a row that was left out is not used again")
    }

    @Test("A backup is refused before the first unlock, and made while locked")
    func states() throws {
        let cold = try KeyRingFixture(copying: fixture.store.records)
        let keychain = KeychainStore(store: cold.store, keys: cold.ring) { KeychainDate(seconds: 1) }
        let copy = InMemoryRecordStore(fixture.store.records)
        #expect(throws: KeychainFault.interactionNotAllowed) {
            try copy.write { writer throws(KeychainFault) in try keychain.prepareBackup(writer) }
        }
        try cold.unlock()
        cold.ring.lock()
        _ = try copy.write { writer throws(KeychainFault) in try keychain.prepareBackup(writer) }
    }

    @Test("More items of the class than one page: none is left")
    func manyPages() throws {
        for number in 0..<1100 {
            try fixture.add(
                Item.sample(.whenPasscodeSetThisDeviceOnly, id: 1000 + Int64(number), account: "p\(number)"), [1])
        }
        let copy = InMemoryRecordStore(fixture.store.records)
        let contents = try copy.write { writer throws(KeychainFault) in try keychain.prepareBackup(writer) }
        #expect(contents.leftOut == 1101)
        #expect(copy.records.itemRecords.values.allSatisfy { $0.protection != .whenPasscodeSetThisDeviceOnly })
    }
}
