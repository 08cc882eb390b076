import KeychainTesting
import SecretCrypto
import Testing

@testable import Keychain

@Suite("what a backup holds")
struct BackupTests {
    private let bench: Bench
    private let keychain: Keychain

    init() throws {
        let bench = try Bench()
        self.bench = bench
        for protection in Protection.allCases {
            try bench.add(Item.sample(protection, id: 100 + Int64(protection.rawValue), account: protection.code), [1])
        }
        keychain = try Keychain(store: bench.store, keys: bench.ring) { KeychainDate(seconds: 1) }
    }

    @Test("WhenPasscodeSetThisDeviceOnly items and their class keys are in no backup; all others are")
    func contents() throws {
        let copy = InMemoryRecordStore(bench.store.records)
        let contents = try copy.write { writer throws(KeychainError) in try keychain.prepareBackup(writer) }
        #expect(contents.items == Protection.allCases.count - 1 && contents.leftOut == 1)
        let left = Set(copy.records.itemRecords.values.map(\.protection))
        #expect(left == Set(Protection.allCases).subtracting([.whenPasscodeSetThisDeviceOnly]))
        let purposes = Set(copy.records.classKeyRecords.map(\.purpose))
        #expect(purposes == Set(KeyPurpose.all).subtracting([.protection(.whenPasscodeSetThisDeviceOnly)]))
        #expect(bench.store.records.itemRecords.count == Protection.allCases.count, "the store itself is as it was")
        #expect(bench.store.records.classKeyRecords.contains { $0.purpose == .protection(.whenPasscodeSetThisDeviceOnly) })
    }

    @Test("A backup is refused before the first unlock, and made while locked")
    func states() throws {
        let cold = try Bench(copying: bench.store.records)
        let keychain = try Keychain(store: cold.store, keys: cold.ring) { KeychainDate(seconds: 1) }
        let copy = InMemoryRecordStore(bench.store.records)
        #expect(throws: KeychainError.interactionNotAllowed) {
            try copy.write { writer throws(KeychainError) in try keychain.prepareBackup(writer) }
        }
        try cold.unlock()
        cold.ring.lock()
        _ = try copy.write { writer throws(KeychainError) in try keychain.prepareBackup(writer) }
    }

    @Test("More items of the class than one page: none is left")
    func manyPages() throws {
        for number in 0..<1100 {
            try bench.add(
                Item.sample(.whenPasscodeSetThisDeviceOnly, id: 1000 + Int64(number), account: "p\(number)"), [1])
        }
        let copy = InMemoryRecordStore(bench.store.records)
        let contents = try copy.write { writer throws(KeychainError) in try keychain.prepareBackup(writer) }
        #expect(contents.leftOut == 1101)
        #expect(copy.records.itemRecords.values.allSatisfy { $0.protection != .whenPasscodeSetThisDeviceOnly })
    }
}
